# --- Who decided about a run, and why: what an operator says is recorded with it.
LONGEST_WHO, LONGEST_WHY = 200, 2000  # characters
SIGNED = ("done", "entry", "resume")  # kinds of records
TOLD_HOW = ("fail", "failed", "goto")  # outcomes
SIGNATURES = []  # what the next record of such a kind is signed with

def user():  # Return the name of the user, or else the number.
    import pwd
    name = os.environ.get("LOGNAME") or os.environ.get("USER") or ""
    if not name:
        with suppress(KeyError):
            name = pwd.getpwuid(os.getuid()).pw_name
    return one_line(name)[:LONGEST_WHO] or str(os.getuid())

def signature(session):  # Return who decides and why, as the options say.
    by, note = (getattr(session.options, key, None) for key in ("by", "note"))
    found = {"by": user() if by is None else by, **({"note": note} if note else {})}
    for key, most in (("by", LONGEST_WHO), ("note", LONGEST_WHY)):
        text = found.get(key, "")
        if re.search(HIDDEN, text) or "\n" in text or "\t" in text:
            raise RefusedError(f"--{key} takes one line without control characters")
        if len(text) > most:
            raise RefusedError(f"--{key} takes {most:,} characters at most")
    if not found["by"].strip():
        raise RefusedError("--by takes a name")
    return found

def sign_next(session, state):  # See to it that a decision of this call is signed.
    command = session.options.command
    is_decision = command in ("answer", "goto") or (command == "resume" and state and state.condition == "running")
    SIGNATURES[:] = [signature(session)] if is_decision else []

def signed(session, record):  # Return a record with who decided and why; a resume has one decision.
    if record.get("kind") not in SIGNED or not SIGNATURES:
        return record
    return {**record, **(SIGNATURES.pop() if session.options.command == "resume" else SIGNATURES[0])}

def decisions(_program, state):  # Return who decided what, for the status.
    more = (*KNOWN, "by", "note", "log")
    return {
        "finished": [{key: record[key] for key in more if key in record} for record in state.finished],
        "decisions": [
            {key: record[key] for key in ("after", "by", "note", "time") if key in record}
            for record in state.decided
            if "by" in record
        ],
    }

def told_by(record):  # Return who decided and why, in words.
    why = f": {record['note']}" if record.get("note") else ""
    return one_line(f"by {record['by']}{why}") if "by" in record else ""

def decided_lines(_session, facts, record):
    """Return what stands below a unit: why it failed, where the run was moved, and who decided."""
    place, lines = 0, []
    if record is not None:
        place = 1 + next(index for index, each in enumerate(facts["finished"]) if each is record)
        about = [record["how"] if record["outcome"] in TOLD_HOW else "", told_by(record)]
        lines = [f"        {one_line(', '.join(filter(None, about)))}"] if any(about) else []
    again = [each for each in facts["decisions"] if each["after"] == place]
    return lines + [f"        the next one was run again, {told_by(each)}" for each in again]

TAKES.append(sign_next)
RECORDS.insert(0, signed)
FACTS.append(decisions)
TAILS.append(decided_lines)
OPTIONS += [
    ("resume answer goto", "--by", "WHO", "who decides (default: the name of the user)"),
    ("resume answer goto", "--note", "TEXT", "why"),
]

