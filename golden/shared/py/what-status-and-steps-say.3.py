# --- What `status` and `steps` say.
KNOWN = ("unit", "title", "instances", "attempt", "outcome", "how", "says", "seconds")
WAITS = []  # what other modules know of units that wait

def describe(program, state, busy, call):  # Return the state of a program as plain data.
    about = {"name": program["name"], "title": program["title"], "source": program["source"]}
    if state is None:
        return {**about, "state": "none", "next": [call("run")]}
    unit = program["units"].get(state.node, {"title": "", "task": ""})
    word = "running" if busy else "interrupted" if state.condition == "running" else state.condition
    facts = {
        "state": word,
        "run": state.begin["run"],
        "began": state.begin["time"],
        "unit": state.node,
        "unit_title": filled(unit, unit["title"], {**program.get("registers", {}), **state.registers}),
        "message": state.message,
        "same_program": state.program == program_hash(program),
        "pid": None,  # of the command that was left behind, if it still runs
        "finished": [{key: record[key] for key in KNOWN} for record in state.finished],
    }
    return {**about, **facts, "next": _next(unit, facts, call)}

def _next(unit, facts, call):  # Return the commands that make sense now.
    word, adopt = facts["state"], [] if facts["same_program"] else ["--adopt"]
    if word == "running":
        return []
    if word in ENDED or (adopt and unit["task"] not in PERFORMERS):
        return [call("run" if word in ENDED else "reset")]
    ways = []
    if word == "interrupted":
        ways = [call("resume", *adopt, "--rerun-interrupted")]
        if facts["pid"] is None:  # what goes on has no outcome yet
            ways += [call("resume", *adopt, "--assume", outcome) for outcome in words_of(unit)]
        return ways
    for look in WAITS:
        ways += look(unit, facts["unit"], call) if word == "waiting" and not adopt else []
    return [*ways, call("resume", *adopt)]

def status_lines(program, facts):  # Return the state of a program as one screen for a person.
    lines = [one_line(f"{program['title']} ({program['source']})")]
    if facts["state"] == "none":
        lines.append("No run has begun here.")
    else:
        is_ended, done = facts["state"] in ENDED, facts["finished"]
        where = facts["message"] if is_ended else f"at {facts['unit']} {facts['unit_title']}"
        lines += [f"run {facts['run']}", one_line(f"{facts['state'].upper()} {where}")]
        if facts["pid"] is not None:
            lines.append(f"Its command still runs (pid {facts['pid']}): wait for its end, or end it and run it again.")
        if not facts["same_program"]:
            of = "was an earlier" if is_ended else "run belongs to a different"
            lines.append(f"This {of} version of the program.")
        lines += [""][: len(done)]
        if len(done) > RECENT:
            lines.append(f"  ... {len(done) - RECENT} units before these")
        for record in done[-RECENT:]:
            attempt = f", attempt {record['attempt']}" if record["attempt"] > 1 else ""
            unit = one_line(f"{record['unit']} {record['title']}")
            word = word_of(program["units"].get(record["unit"], {}), record["outcome"])
            lines.append(f"  {word:4}  {unit}{attempt}, {duration(record['seconds'])}")
    if facts["next"]:
        lines += ["", "What to do next:", *(f"  {command}" for command in facts["next"])]
    return lines

def steps_lines(program):  # Return the units of a program as a table.
    rows = [("UNIT", "KIND", "TITLE", "SOURCE")]
    for name, unit in program["units"].items():
        if unit["task"] not in ("branch", "end"):
            rows.append((name, unit["task"], one_line(unit["title"]), one_line(unit["at"])))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["  ".join([*map(str.ljust, row, widths), row[3]]) for row in rows]

