# --- What Git says of the project, without the commands that the configuration of a repository names (B9).
HARMLESS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "diff.external=",
    "submodule.recurse=false",
)
HARMLESS += ("safe.bareRepository=explicit",)
GIT_VARIABLES = ("GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
FILTERS = ("config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$")
STATUS = ("status", "--porcelain=v1", "--branch", "--ignore-submodules=all")
DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")

class ToolError(Exception):
    pass

def repository_differs(stages, arguments, seconds):
    return repository_says(stages, (*DIFF, *(["--cached"] if arguments.get("staged") else [])), arguments, seconds)

def repository_says(stages, words, arguments, seconds):
    path = arguments.get("path", ".")
    inside(stages.root, path)
    found = _git(stages, [], FILTERS, seconds, good=("", "exit code 1"))  # 1: there are none
    filters = [name for name in found.split("\0") if name]
    if any("=" in name or "\n" in name for name in filters):
        raise ToolError("the configuration of this repository has a filter whose name cannot be switched off")
    off = [f"{name}={'false' if name.endswith('required') else ''}" for name in filters]
    return _git(stages, off, (*words, "--", f":(literal){os.path.normpath(path)}"), seconds)

def _git(stages, more, words, seconds, good=('',)):
    settings = [word for setting in (*HARMLESS, *more) for word in ("-c", setting)]
    variables = [*GIT_VARIABLES, f"GIT_WORK_TREE={work_tree(stages.root)}"]
    answered = listened(stages, ["env", *variables, "git", "-C", stages.root, "--no-pager", *settings, *words], seconds)
    if answered.trouble not in good:
        raise ToolError(f"git {words[0]}: {answered.trouble}")
    return answered.answer.decode("utf-8", "replace") if words is FILTERS else decoded(answered.answer)

def work_tree(root):
    folder = os.path.realpath(root)
    while not os.path.lexists(os.path.join(folder, ".git")) and folder != os.sep:
        folder = os.path.dirname(folder)
    if folder == os.sep:
        raise ToolError("the project is in no repository of Git")
    return folder

