"""The tools that every run has: the time, files inside the project, validation (B9)."""

from datetime import datetime, timezone, tzinfo
from typing import Any, Callable

from runtime_shim.contract.contract import Stages
from runtime_shim.contract.git_calls import STATUS, ToolError, repository_differs, repository_says
from runtime_shim.contract.safe_paths import UnsafeError, list_inside, read_inside, write_inside
from runtime_shim.contract.validating import checked
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import utc_now
from runtime_shim.tasks.reading import LARGEST_ANSWER

USUAL_ZONE = "America/Toronto"


def current_time(_stages: Stages, arguments: Table, _seconds: int) -> str:
    """Return the time of the system's clock in a time zone, as ISO 8601 with its offset."""
    name = arguments.get("timezone", USUAL_ZONE)
    now = datetime.fromisoformat(utc_now()[:-1]).replace(tzinfo=timezone.utc)
    return now.astimezone(zone(name)).isoformat(timespec="seconds")


def zone(name: str) -> tzinfo:
    """Return a time zone by its IANA name."""
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


def read_file(stages: Stages, arguments: Table, _seconds: int) -> str:
    """Return the text of a file."""
    try:
        return read_inside(stages.root, arguments["path"], LARGEST_ANSWER).decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{arguments['path']} is not UTF-8") from None


def write_file(stages: Stages, arguments: Table, _seconds: int) -> Table:
    """Write a text to a file."""
    content = arguments["text"].encode("utf-8", "replace")
    write_inside(stages.root, arguments["path"], content)
    return {"path": arguments["path"], "bytes": len(content)}


def list_files(stages: Stages, arguments: Table, _seconds: int) -> list[str]:
    """Return the names in a folder."""
    return list_inside(stages.root, arguments.get("path", "."))


def validate_file(stages: Stages, arguments: Table, _seconds: int) -> Table:
    """Return whether a file parses."""
    found = checked(stages, "parses", arguments["path"])
    if found["status"] == "failed":
        raise ToolError(found["message"])
    return found


BUILT_IN_CALLS: dict[str, Callable[[Stages, Table, int], Any]] = {
    "getCurrentTime": current_time,
    "readFile": read_file,
    "writeFile": write_file,
    "listFiles": list_files,
    "gitStatus": lambda stages, arguments, seconds: repository_says(stages, STATUS, arguments, seconds),
    "gitDiff": repository_differs,
    "validateFile": validate_file,
}


def built_in_result(stages: Stages, tool: str, arguments: Table, seconds: int) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the result of a built-in tool; raises ToolError."""
    try:
        return BUILT_IN_CALLS[tool](stages, arguments, seconds)
    except UnsafeError as error:
        raise ToolError(str(error)) from None
