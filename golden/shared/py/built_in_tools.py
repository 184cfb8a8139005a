# --- The tools that every run has: the time, files inside the project, validation (B9).
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

