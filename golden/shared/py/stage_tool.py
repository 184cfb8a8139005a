# --- The stages in which tools are called (B9): every call is recorded, those that fail and are skipped too.
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

