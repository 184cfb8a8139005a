# --- What `status`, `steps` and `run --dry-run` print, and what an operator can do next.
ROUNDS = 10  # how often a step is shown in a dry run
ASSUMED = ("as assumed", "as the operator says")  # of interrupted commands, whose outcomes rdc does not know
RECENT = 12  # steps that are shown, if there are more
KNOWN = ("title", "instances", "attempt", "outcome", "how", "says", "seconds", "by", "note")  # of a finished step
def condition_of(state, is_busy):
    condition = str(state.condition)
    return "running" if is_busy and condition not in ENDED else condition.replace("running", "interrupted")
def choices(session, state, condition):
    call, node = session.call, session.program["nodes"].get(state.node, {"task": ""})
    adopt = () if session.is_same(state) else ("--adopt",)
    if condition in (*ENDED, "expired"):
        return [*session.gathered("again", state), ("to start a new run", call("run"))]
    if adopt and node["task"] not in session.kinds:
        return [("to archive it", call("reset"))]
    if condition == "interrupted":  # a command that still runs has no outcome
        words = () if state.left_behind() else words_of(node)
        assumed = ((f"to assume {word}", call("resume", *adopt, "--assume", word)) for word in words)
        return [("to run it again", call("resume", *adopt, "--rerun-interrupted")), *assumed]
    kind = session.kinds[node["task"]] if condition == "waiting" and not adopt else Performer
    names = kind.names(state.node, node)
    waits = [("to answer", answering(session, name, reply)) for name in names for reply in kind.replies(node)]
    return [*waits, ("to continue", call("resume", *adopt))]
def answering(session, name, reply):
    return session.call("answer", name, reply) + " < FILE" * (reply == "-")
def hints(session, condition):
    return [f"{what}: {command}" for what, command in choices(session, session.state, condition)]
def describe(session, state, is_busy):
    program = session.program
    facts = {key: program[key] for key in ("name", "title", "source")}
    if state is None:
        return {**facts, "state": "none", "next": [session.call("run")]}
    session.each("before_run", state)
    node = program["nodes"].get(state.node, {"title": ""})
    facts.update(state=condition_of(state, is_busy), run=state.begin["run"], began=state.begin["time"], step=state.node)
    facts["step_title"] = session.filled(node, "title", {**program["registers"], **state.registers})
    pid = [None, *(one["pid"] for one in state.left_behind())][-1]
    done = [{"step": one["node"], **{key: one[key] for key in KNOWN if key in one}} for one in state.finished]
    facts.update(message=state.message, same_program=session.is_same(state), pid=pid, finished=done)
    for more in session.each("facts", state):
        facts.update(more)
    found = choices(session, state, facts["state"]) if facts["state"] != "running" else ()
    return {**facts, "next": [command for _, command in found]}
def status(session):
    import json
    is_busy = session.store.is_busy()  # asked first: a run that ends between the two has not been interrupted
    facts = describe(session, session.read() if os.path.exists(session.store.path) else None, is_busy)
    lines = [json.dumps(facts, indent=2)] if session.options.json else status_lines(session, facts)
    return session.display.say(lines)
def status_lines(session, facts):
    word, done = facts["state"], facts.get("finished", ())
    yield one_line(f"{facts['title']} ({facts['source']})")
    if word == "none":
        yield "No run has started here."
    else:
        where = facts["message"] if word in ENDED else f"at {facts['step']} {facts['step_title']}"
        yield from (f"run {facts['run']}", one_line(f"{word.upper()} {where}"))
        if facts["pid"] is not None:
            alone = ("still runs", ": wait until it ends, or let rdc stop it and run it again")
            how, hint = ("is running", "") if word == "running" else alone
            yield f"Its command {how} (pid {facts['pid']}){hint}."
        if not facts["same_program"]:
            yield "This run belongs to a different version of the program."
        yield from [""][: len(done)]
        yield from session.gathered("lines", facts, None)
    if len(done) > RECENT:
        yield f"  ... {len(done) - RECENT} steps before these"
    for record in done[-RECENT:]:
        outcome = word_of(session.program["nodes"].get(record["step"], {}), record["outcome"])
        attempt = f", attempt {record['attempt']}" if record["attempt"] > 1 else ""
        how = ", as assumed" if record["how"] in ASSUMED else ""
        step = one_line(f"{record['step']} {record['title']}")
        yield f"  {outcome:4}  {step}{attempt}, {duration(record['seconds'])}{how}"
        yield from session.gathered("lines", facts, record)
    if facts["next"]:
        yield from ("", "What to do next:", *(f"  {command}" for command in facts["next"]))
def steps(session):
    nodes, keys = session.program["nodes"], ("task", "title", "at")
    rows = [(name, *(one_line(nodes[name][key]) for key in keys)) for name in session.places]
    rows.insert(0, ("STEP", "KIND", "TITLE", "SOURCE"))
    widths = [max(map(len, column)) for column in zip(*rows)]  # Python 3.9 has no `strict`
    return session.display.say("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
def preview(session):
    nodes, state = session.program["nodes"], session.state
    visits = collections.Counter()
    while nodes[state.node]["task"] != "end":
        name, node, performer = state.node, nodes[state.node], session.performers[state.node]
        visits[name] += 1
        if visits[name] > ROUNDS:
            yield f"It would repeat {session.label(name)}: the path ends here."
            return
        done = performer.preview(name, node)
        move = advance(session.program, name, state.registers, done.outcome, done.verbs)
        yield from (session.label(name), *(line for key in performer.keys for line in session.texts(node, key)))
        yield f"  {word_of(node, done.outcome)} ({done.how}): {one_line(move.says)}".rstrip(": ")
        state.node, state.registers = move.node, dict(move.registers)
    message = one_line(session.filled(nodes[state.node], "message"))
    yield f"The run would end: {nodes[state.node]['result'].upper()} {message}".rstrip()

