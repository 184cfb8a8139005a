# --- Tools: those that every run has, what Git says, and the stages in which tools are called.
# Nothing that a repository configures is run.
GIT_VARIABLES = "GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1"
GIT_SETTINGS = "core.fsmonitor=false core.hooksPath=/dev/null diff.external= submodule.recurse=false"
GIT_SETTINGS += " safe.bareRepository=explicit"
FILTERS = ("config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$")
STATUS = "status --porcelain=v1 --branch --ignore-submodules=all"
DIFF = "diff --no-color --no-ext-diff --no-textconv --ignore-submodules=all"

class ToolError(Exception):
    pass
def repository_says(stages, command, arguments, seconds):
    path = arguments.get("path", ".")
    inside(stages.root, path)
    found = _git(stages, [], FILTERS, seconds, good=("", "exit code 1")).decode("utf-8", "replace")  # 1: there are none
    filters = [name for name in found.split("\0") if name]
    if any("=" in name or "\n" in name for name in filters):
        raise ToolError("the configuration of this repository has a filter whose name cannot be switched off")
    off = [f"{name}={'false' if name.endswith('required') else ''}" for name in filters]
    return decoded(_git(stages, off, (*command.split(), "--", f":(literal){os.path.normpath(path)}"), seconds))
def _git(stages, off, words, seconds, good=('',)):
    variables = [*GIT_VARIABLES.split(), f"GIT_WORK_TREE={work_tree(stages.root)}"]
    settings = [word for setting in (*GIT_SETTINGS.split(), *off) for word in ("-c", setting)]
    answered = listened(stages, ["env", *variables, "git", "-C", stages.root, "--no-pager", *settings, *words], seconds)
    if answered.trouble not in good:
        raise ToolError(f"git {words[0]}: {answered.trouble}")
    return answered.answer
def work_tree(root):
    folder = os.path.realpath(root)
    while not os.path.lexists(os.path.join(folder, ".git")) and folder != os.sep:
        folder = os.path.dirname(folder)
    if folder == os.sep:
        raise ToolError("the project is in no repository of Git")
    return folder

USUAL_ZONE = "America/Toronto"
def current_time(zone):
    import datetime  # slow to import
    now = datetime.datetime.fromisoformat(utc_now()[:-1]).replace(tzinfo=datetime.timezone.utc)
    return now.astimezone(time_zone(zone)).isoformat(timespec="seconds")
def time_zone(name):
    import datetime
    if name in ("UTC", "Etc/UTC", "Z"):
        return datetime.timezone.utc
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
def read_file(stages, path):
    try:
        return read_inside(stages.root, path, LARGEST_ANSWER).decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{path} is not UTF-8") from None
def write_file(stages, path, text):
    content = text.encode("utf-8", "replace")
    write_inside(stages.root, path, content)
    return {"path": path, "bytes": len(content)}
def validate_file(stages, path):
    found = checked(stages, "parses", path)
    if found["status"] == "failed":
        raise ToolError(found["message"])
    return found
def difference(stages, given, seconds):
    return repository_says(stages, DIFF + " --cached" * bool(given.get("staged")), given, seconds)

BUILT_IN_CALLS = {
    "getCurrentTime": lambda _stages, given, _seconds: current_time(given.get("timezone", USUAL_ZONE)),
    "readFile": lambda stages, given, _seconds: read_file(stages, given["path"]),
    "writeFile": lambda stages, given, _seconds: write_file(stages, given["path"], given["text"]),
    "listFiles": lambda stages, given, _seconds: list_inside(stages.root, given.get("path", ".")),
    "gitStatus": lambda stages, given, seconds: repository_says(stages, STATUS, given, seconds),
    "gitDiff": difference,
    "validateFile": lambda stages, given, _seconds: validate_file(stages, given["path"]),
}
def built_in_result(stages, tool, arguments, seconds):  # any JSON value
    try:
        result = BUILT_IN_CALLS[tool](stages, arguments, seconds)
    except UnsafeError as error:
        raise ToolError(str(error)) from None
    if len(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")) > LARGEST_ANSWER:
        raise ToolError(f"the result is longer than {LARGEST_ANSWER:,} bytes")
    return result
def command_of_tool(session, tool):
    given = pairs("--tool", session.options.tool)
    command = given.get(tool) or config_of(session).get("tools", {}).get(tool, {}).get("command")
    return command
def call_tool(stages, name, node):
    spec = spec_of(stages.session, node["step"])["tools"][node["place"]]
    about = {**CALL, **{key: value for key, value in spec.items() if value is not None}, "started_at": utc_now()}
    tool, command = about["name"], command_of_tool(stages.session, about["name"])
    ended = {"status": "failed"}
    try:
        if command is None and tool not in BUILT_IN and not stages.is_mocked("tools", tool):
            ended = {"status": "skipped", "error": f"no tool {tool} is known; name its command: --tool {tool}=COMMAND"}
        else:
            ended = {"status": "completed", "result": result_of(stages, name, node, about, command)}
    except ToolError as error:
        ended["error"] = str(error)
    except LateError:
        ended["error"] = "the time of the attempt was over"
    trouble = f"tool {tool}: {ended['error']}" if "error" in ended else ""
    is_fine = ended["status"] == "skipped" and not about["required"]
    return Found("" if is_fine else trouble, {"tool": {**about, **ended, "ended_at": utc_now()}}, trouble)
def result_of(stages, name, node, about, command):
    tool, arguments = about["name"], about["args"]
    configured = config_of(stages.session).get("tools", {}).get(tool, {})
    schema = configured.get("arguments") or BUILT_IN.get(tool, {}).get("arguments", {})
    if problem := unfit_arguments(schema, arguments):
        raise ToolError(problem)
    seconds = configured.get("timeout_seconds", TOOL_SECONDS)
    if command is None and not stages.is_mocked("tools", tool):
        return built_in_result(stages, tool, arguments, seconds)
    request = json.dumps({"tool": tool, "arguments": arguments}) + "\n"
    answered = stages.said(name, node, command or "", request, seconds)
    answer = answer_of(answered)
    if answer is not None:
        return json_or_text(answer)
    if answered.trouble == "out of time":
        stages.time_limit()
        raise ToolError(f"timeout after {duration(seconds)}")
    raise ToolError(answered.trouble)
def calls_command(session, node):
    return node["subject"] not in BUILT_IN or command_of_tool(session, node["subject"]) is not None

