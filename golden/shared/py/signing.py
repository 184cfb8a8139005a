# --- Who decided about a run, and why: what an operator says is recorded with it.
LONGEST = {"by": 200, "note": 2000}  # characters
SIGNED = ("done", "entry", "resume")  # kinds of records
def user():
    import getpass
    with suppress(KeyError, OSError):
        return one_line(getpass.getuser())[: LONGEST["by"]]
    return str(os.getuid())
def told_by(record):
    return ": ".join([f"by {record['by']}", *filter(None, [record.get("note")])]) if "by" in record else ""

class Signing(Extension):
    options = (
        ("resume answer goto approve", "--by", "WHO", "who decides (default: the user)"),
        ("resume answer goto approve", "--note", "TEXT", "why"),
    )
    _is_due = False  # whether the decision of this call is still to be recorded
    def _said(self):
        return {key: text for key in LONGEST if (text := getattr(self.session.options, key)) is not None}
    def before_run(self, state):
        session, command = self.session, self.session.options.command
        decides = command in ("answer", "goto") or (command == "resume" and state and state.condition == "running")
        self._is_due = bool(decides)
        for key, text in self._said().items():
            if re.search(rf"{HIDDEN}|[\n\t]", text) or not 0 < len(text.strip()) <= len(text) <= LONGEST[key]:
                raise RefusedError(f"--{key} takes one line of 1 to {LONGEST[key]:,} characters that print")
            if not (decides or session.is_interactive):
                raise RefusedError(f"--{key} signs a decision, and none is due")
    def record(self, record):
        if record.get("kind") not in SIGNED or not (self._is_due or record.get("how") == "answered here"):
            return record
        if self.session.options.command == "resume":
            self._is_due = False
        return {**record, "by": user(), **self._said()}
    def facts(self, state):
        keys = ("after", "by", "note", "time")
        return {"decisions": [{key: one[key] for key in keys if key in one} for one in state.decided if "by" in one]}
    def lines(self, facts, record):
        place = next((number for number, each in enumerate(facts["finished"], 1) if each is record), 0)
        is_told = record and record["outcome"] in ("fail", "failed", "goto") and record["how"] not in ASSUMED
        about = [record["how"] if is_told else "", told_by(record)] if record else []
        again = (f"the next one was run again, {told_by(one)}" for one in facts["decisions"] if one["after"] == place)
        return [f"        {one_line(line)}" for line in (", ".join(filter(None, about)), *again) if line]

