# --- The stage that does the work of a step: a command, the executor, or a person where there is none (B7).
def executor_of(session):
    given = session.options.executor or os.environ.get("RDC_EXECUTOR")
    command = given or config_of(session).get("executor")
    return command

def execute_step(stages, name, node):
    import shutil
    import tempfile

    request = json.dumps(request_of(stages.session, node), sort_keys=True) + "\n"
    command = executor_of(stages.session)
    if command is None and not stages.is_mocked("executors", name):
        return by_person(stages, name, node)
    try:
        for path in spec_of(stages.session, node["step"]).get("outputs") or ():
            inside(stages.root, path)  # a link may lead out of the project: nothing is written there (B3)
    except UnsafeError as error:
        return Found(f"output {error}", {})
    try:
        folder, kept = tempfile.mkdtemp(prefix="rdc-"), {}
    except OSError as error:
        raise stages.not_begun(name, error) from None
    try:
        code = stages.execute(name, node, command or "", request, folder)
        kept["exit_code"] = code
        if code != 0:
            return Found(f"executor: {in_words(code)}", kept)
        kept.update(handed_over(stages.session, folder))
        return Found("", kept, unrecorded(stages.session, node, kept))
    except ValueError as error:
        return Found(str(error), kept)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

def request_of(session, node):
    context = found_so_far(session, "telis_context")
    return {
        "run_id": session.state.begin["run"],
        "workflow": session.program["contract"]["workflow"],
        "step": spec_of(session, node["step"]),
        "tools": found_so_far(session, "tool"),
        "telis_context": context[-1] if context else None,
        "attempt": attempt_of(node, session.state.registers),
    }

def handed_over(session, folder):
    found = {}
    for key, variable in HANDED.items():
        try:
            value = value_in(os.path.join(folder, key))
        except (ValueError, OSError) as error:
            reason = why_refused(error)
            raise ValueError(f"the file of {variable} is refused: {reason}") from None
        if value is not None:
            is_evidence = key == "evidence"
            found[key] = checked_evidence(value, evidence_ids(session.state)) if is_evidence else records_in(value, key)
    return found

def why_refused(error):
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error}"
    return "it is not a regular file" if isinstance(error, OSError) else error

def unrecorded(session, node, kept):
    nodes = session.program["nodes"].values()
    is_recorded = any(each.get("stage") == "outputs" and each["step"] == node["step"] for each in nodes)
    return "" if is_recorded or not kept.get("evidence") else "its evidence is not recorded: the step has no level"

def value_in(path):  # any JSON value
    content = read_regular(path)
    if len(content) > LARGEST_ANSWER:
        raise ValueError(f"it is larger than {LARGEST_ANSWER:,} bytes")
    return read_strictly(content.decode("utf-8-sig")) if content.strip() else None

def by_person(stages, name, node):
    done, session = stages.from_file(name), stages.session
    if done is not None:
        return done
    session.record({"kind": "wait", "condition": "waiting"})
    spec = spec_of(session, node["step"])
    for line in session.texts({"description": spec.get("description") or ""}, "description"):
        session.display.line(line)
    choice = session.ask(f"Did {session.label(name)} pass?", "pass/fail") if session.is_interactive else None
    if choice is None:
        again = session.call("resume")
        yes, no = (session.call("answer", name, word) for word in BINARY)
        raise Waiting(f"to answer: {yes}   (or {no})", f"to go on:  {again}   (or {again} --executor COMMAND)")
    stages.begin_again(node)
    return stages.given(name, choice, "answered here")

def execution_previewed(session, _node):
    command = executor_of(session)
    return f"call the executor: {command}" if command else "put the step to a person: no executor is configured"

