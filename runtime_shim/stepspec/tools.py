"""Built-in tools, and the stages that call tools."""

import datetime
import json
import os
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.display import duration
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import utc_now
from runtime_shim.io.reading import LARGEST_ANSWER, TOOL_SECONDS, decoded
from runtime_shim.stepspec.attempt import Found, LateError, Stages, config_of, spec_of
from runtime_shim.stepspec.checks import checked, listened
from runtime_shim.stepspec.evidence import json_or_text
from runtime_shim.stepspec.safe_paths import UnsafeError, inside, list_inside, read_inside, write_inside
from runtime_shim.stepspec.step_builder import CALL
from runtime_shim.stepspec.tool_schemas import BUILT_IN, unfit_arguments
from runtime_shim.tasks.exchange import answer_of, pairs

# Run nothing that a repository configures.
GIT_VARIABLES = "GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1"
GIT_SETTINGS = "core.fsmonitor=false core.hooksPath=/dev/null diff.external= submodule.recurse=false"
GIT_SETTINGS += " safe.bareRepository=explicit"
FILTERS = ("config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$")
STATUS = "status --porcelain=v1 --branch --ignore-submodules=all"
DIFF = "diff --no-color --no-ext-diff --no-textconv --ignore-submodules=all"


class ToolError(Exception):
    """The reason that a tool has no result."""


def repository_says(stages: Stages, command: str, arguments: Table, seconds: int) -> str:
    """Return the output of a Git command for a path inside the project."""
    path = arguments.get("path", ".")
    inside(stages.root, path)
    found = _git(stages, [], FILTERS, seconds, good=("", "exit code 1")).decode("utf-8", "replace")  # 1: no filters
    filters = [name for name in found.split("\0") if name]
    if any("=" in name or "\n" in name for name in filters):
        raise ToolError("this repository configures a filter that cannot be turned off")
    off = [f"{name}={'false' if name.endswith('required') else ''}" for name in filters]
    return decoded(_git(stages, off, (*command.split(), "--", f":(literal){os.path.normpath(path)}"), seconds))


def _git(stages: Stages, off: list[str], words: tuple[str, ...], seconds: int, good: tuple[str, ...] = ("",)) -> bytes:
    """Run Git without the settings `off` and return its output; raise ToolError unless it ends in a `good` way."""
    variables = [*GIT_VARIABLES.split(), f"GIT_WORK_TREE={work_tree(stages.root)}"]
    settings = [word for setting in (*GIT_SETTINGS.split(), *off) for word in ("-c", setting)]
    answered = listened(stages, ["env", *variables, "git", "-C", stages.root, "--no-pager", *settings, *words], seconds)
    if answered.trouble not in good:
        raise ToolError(f"git {words[0]}: {answered.trouble}")
    return answered.answer


def work_tree(root: str) -> str:
    """Return the repository around the project, regardless of its configuration."""
    folder = os.path.realpath(root)
    while not os.path.lexists(os.path.join(folder, ".git")) and folder != os.sep:
        folder = os.path.dirname(folder)
    if folder == os.sep:
        raise ToolError("the project is not in a Git repository")
    return folder


USUAL_ZONE = "America/Toronto"


def current_time(zone: str) -> str:
    """Return the current time in a time zone as ISO 8601 with offset."""
    now = datetime.datetime.fromisoformat(utc_now()[:-1]).replace(tzinfo=datetime.timezone.utc)
    return now.astimezone(time_zone(zone)).isoformat(timespec="seconds")


def time_zone(name: str) -> datetime.tzinfo:
    """Return a time zone by its IANA name."""
    if name in ("UTC", "Etc/UTC", "Z"):
        return datetime.timezone.utc
    import zoneinfo

    with suppress(zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return zoneinfo.ZoneInfo(name)
    if zoneinfo.available_timezones():
        raise ToolError(f"{name} is not a time zone; use an IANA name such as {USUAL_ZONE}")
    raise ToolError(f"{name} needs the package tzdata; run 'pip install tzdata' or use UTC")


def read_file(stages: Stages, path: str) -> str:
    """Return the text of a file; raise ToolError if it is not UTF-8."""
    try:
        return read_inside(stages.root, path, LARGEST_ANSWER).decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{path} is not UTF-8") from None


def write_file(stages: Stages, path: str, text: str) -> Table:
    """Write a text to a file."""
    content = text.encode("utf-8", "replace")
    write_inside(stages.root, path, content)
    return {"path": path, "bytes": len(content)}


def validate_file(stages: Stages, path: str) -> Table:
    """Return the result of parsing a file; raise ToolError if it does not parse."""
    if (found := checked(stages, "parses", path))["status"] == "failed":
        raise ToolError(found["message"])
    return found


def difference(stages: Stages, given: Table, seconds: int) -> str:
    """Return the output of `git diff`, optionally of staged changes."""
    return repository_says(stages, DIFF + " --cached" * bool(given.get("staged")), given, seconds)


BUILT_IN_CALLS: dict[str, Callable[[Stages, Table, int], Any]] = {
    "getCurrentTime": lambda _stages, given, _seconds: current_time(given.get("timezone", USUAL_ZONE)),
    "readFile": lambda stages, given, _seconds: read_file(stages, given["path"]),
    "writeFile": lambda stages, given, _seconds: write_file(stages, given["path"], given["text"]),
    "listFiles": lambda stages, given, _seconds: list_inside(stages.root, given.get("path", ".")),
    "gitStatus": lambda stages, given, seconds: repository_says(stages, STATUS, given, seconds),
    "gitDiff": difference,
    "validateFile": lambda stages, given, _seconds: validate_file(stages, given["path"]),
}


def built_in_result(stages: Stages, tool: str, arguments: Table, seconds: int) -> Any:  # any JSON value
    """Return the result of a built-in tool; raise ToolError if it fails or is too long."""
    try:
        result = BUILT_IN_CALLS[tool](stages, arguments, seconds)
    except UnsafeError as error:
        raise ToolError(str(error)) from None
    if len(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")) > LARGEST_ANSWER:
        raise ToolError(f"the result is longer than {LARGEST_ANSWER:,} bytes")
    return result


def command_of_tool(session: Session, tool: str) -> "str | None":
    """Return a tool's command: the operator's, the configuration's, or None."""
    configured: Table = config_of(session).get("tools", {}).get(tool, {})
    return pairs("--tool", session.options.tool).get(tool) or configured.get("command")


def call_tool(stages: Stages, name: str, node: Table) -> Found:
    """Call a tool and return a record of the call."""
    spec = spec_of(stages.session, node["step"])["tools"][node["place"]]
    about = {**CALL, **{key: value for key, value in spec.items() if value is not None}, "started_at": utc_now()}
    tool, command = about["name"], command_of_tool(stages.session, about["name"])
    ended: Table = {"status": "failed"}
    try:
        if command is None and tool not in BUILT_IN:
            ended = {"status": "skipped", "error": f"unknown tool {tool}; set its command with --tool {tool}=COMMAND"}
        else:
            ended = {"status": "completed", "result": result_of(stages, name, node, about, command)}
    except (ToolError, LateError) as error:
        ended["error"] = str(error)
    trouble = f"tool {tool}: {ended['error']}" if "error" in ended else ""
    is_fine = ended["status"] == "skipped" and not about["required"]
    return Found("" if is_fine else trouble, {"tool": {**about, **ended, "ended_at": utc_now()}}, trouble)


def result_of(stages: Stages, name: str, node: Table, about: Table, command: "str | None") -> Any:
    """Return the result of a tool; raise ToolError if it fails, LateError if there is no time."""
    tool, arguments = about["name"], about["args"]
    configured = config_of(stages.session).get("tools", {}).get(tool, {})
    schema = configured.get("arguments") or BUILT_IN.get(tool, {}).get("arguments", {})
    if problem := unfit_arguments(schema, arguments):
        raise ToolError(problem)
    seconds = configured.get("timeout_seconds", TOOL_SECONDS)
    if command is None:
        return built_in_result(stages, tool, arguments, seconds)
    request = json.dumps({"tool": tool, "arguments": arguments}) + "\n"
    answered = stages.said(name, node, command, request, seconds)
    if (answer := answer_of(answered)) is not None:
        return json_or_text(answer)
    if answered.trouble == "out of time":
        stages.time_limit()
        raise ToolError(f"timeout after {duration(seconds)}")
    raise ToolError(answered.trouble)


def calls_command(session: Session, node: Table) -> bool:
    """Return whether a tool is a command, or may have been one in the call before."""
    return node["subject"] not in BUILT_IN or command_of_tool(session, node["subject"]) is not None
