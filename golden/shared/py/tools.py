# --- Tools: those that every run has, what Git says, and the stages in which tools are called (B9).
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

USUAL_ZONE = "America/Toronto"

def current_time(_stages, arguments, _seconds):
    name = arguments.get("timezone", USUAL_ZONE)
    now = datetime.fromisoformat(utc_now()[:-1]).replace(tzinfo=timezone.utc)
    return now.astimezone(zone(name)).isoformat(timespec="seconds")

def zone(name):
    if name in ("UTC", "Etc/UTC", "Z"):
        return timezone.utc
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        pass
    if zoneinfo.available_timezones():
        raise ToolError(f"{name} is not a time zone; give an IANA name such as {USUAL_ZONE}")
    raise ToolError(
        f"time zones other than UTC need the package tzdata: pip install tzdata, or give UTC in place of {name}"
    )

def read_file(stages, arguments, _seconds):
    try:
        return read_inside(stages.root, arguments["path"], LARGEST_ANSWER).decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{arguments['path']} is not UTF-8") from None

def write_file(stages, arguments, _seconds):
    content = arguments["text"].encode("utf-8", "replace")
    write_inside(stages.root, arguments["path"], content)
    return {"path": arguments["path"], "bytes": len(content)}

def list_files(stages, arguments, _seconds):
    return list_inside(stages.root, arguments.get("path", "."))

def validate_file(stages, arguments, _seconds):
    found = checked(stages, "parses", arguments["path"])
    if found["status"] == "failed":
        raise ToolError(found["message"])
    return found

BUILT_IN_CALLS = {
    "getCurrentTime": current_time,
    "readFile": read_file,
    "writeFile": write_file,
    "listFiles": list_files,
    "gitStatus": lambda stages, arguments, seconds: repository_says(stages, STATUS, arguments, seconds),
    "gitDiff": repository_differs,
    "validateFile": validate_file,
}

def built_in_result(stages, tool, arguments, seconds):  # any JSON value
    try:
        return BUILT_IN_CALLS[tool](stages, arguments, seconds)
    except UnsafeError as error:
        raise ToolError(str(error)) from None

USUAL = {"args": {}, "required": False, "risk": "low"}

def command_of_tool(session, tool):
    given = pairs("--tool", session.options.tool)
    command = given.get(tool) or config_of(session).get("tools", {}).get(tool, {}).get("command")
    return command

def call_tool(stages, name, node):
    spec = spec_of(stages.session, node["step"])["tools"][node["place"]]
    about = {**USUAL, **{key: value for key, value in spec.items() if value is not None}, "started_at": utc_now()}
    tool, late = about["name"], None
    if command_of_tool(stages.session, tool) is None and tool not in BUILT_IN and not stages.is_mocked("tools", tool):
        ended = {
            "status": "skipped",
            "error": f"no tool {tool} is known; name its command: --tool {tool}=COMMAND",
        }
    else:
        try:
            ended = {"status": "completed", "result": result_of(stages, name, node, about)}
        except ToolError as error:
            ended = {"status": "failed", "error": str(error)}
        except LateError as error:
            late, ended = error, {"status": "failed", "error": "the time of the attempt was over"}
    kept = {"tool": {**about, **ended, "ended_at": utc_now()}}
    trouble = f"tool {tool}: {ended['error']}" if "error" in ended else ""
    if late is not None:
        return Found(stages.late, kept)
    is_fine = ended["status"] == "skipped" and not about["required"]
    return Found("" if is_fine else trouble, kept, trouble)

def result_of(stages, name, node, about):  # any JSON value
    tool, arguments, session = about["name"], about["args"], stages.session
    configured = config_of(session).get("tools", {}).get(tool, {})
    schema = configured.get("arguments") or BUILT_IN.get(tool, {}).get("arguments", {})
    if problem := unfit_arguments(schema, arguments):
        raise ToolError(problem)
    seconds, command = configured.get("timeout_seconds", TOOL_SECONDS), command_of_tool(session, tool)
    if command is None and not stages.is_mocked("tools", tool):
        return small(built_in_result(stages, tool, arguments, seconds))
    request = json.dumps({"tool": tool, "arguments": arguments}) + "\n"
    answered = stages.said(name, node, command or "", request, seconds)
    answer = answer_of(answered)
    if answer is None:
        is_late = answered.trouble == "out of time"
        raise ToolError(f"timeout after {duration(seconds)}" if is_late else answered.trouble)
    return json_or_text(answer)

def small(result):
    if len(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")) > LARGEST_ANSWER:
        raise ToolError(f"the result is longer than {LARGEST_ANSWER:,} bytes")
    return result

def calls_command(session, node):
    is_own = node["stage"] == "tool" and node["subject"] in BUILT_IN
    return node["stage"] == "tool" and (not is_own or command_of_tool(session, node["subject"]) is not None)

def tool_previewed(session, node):
    command = command_of_tool(session, node["subject"])
    how = "built in" if node["subject"] in BUILT_IN else "unknown: skipped"
    return f"call the tool {node['subject']}: {command or how}"

