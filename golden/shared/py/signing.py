# --- Who decided about a run, and why: what an operator says is recorded with it.
LONGEST = {"by": 200, "note": 2000}  # characters
SIGNED = ("done", "entry", "resume")  # kinds of records
TOLD_HOW = ("fail", "failed", "goto")  # outcomes

def user():
    import pwd

    with suppress(KeyError):
        name = os.environ.get("LOGNAME") or os.environ.get("USER") or pwd.getpwuid(os.getuid()).pw_name
        return one_line(name)[: LONGEST["by"]] or str(os.getuid())
    return str(os.getuid())

def told_by(record):
    return ": ".join([f"by {record['by']}", *filter(None, [record.get("note")])]) if "by" in record else ""

class Signing(Extension):
    options = (
        ("resume answer goto approve", "--by", "WHO", "who decides (default: the name of the user)"),
        ("resume answer goto approve", "--note", "TEXT", "why"),
    )
    _is_due = False  # whether the decision of this call is still to be recorded
    def _said(self):
        found = {key: getattr(self.session.options, key) for key in LONGEST}
        return {key: text for key, text in found.items() if text or (text is not None and key == "by")}
    def before_run(self, state):
        session, command = self.session, self.session.options.command
        decides = command in ("answer", "goto") or (command == "resume" and state and state.condition == "running")
        self._is_due = bool(decides)
        for key, text in self._said().items():
            if re.search(rf"{HIDDEN}|[\n\t]", text) or not 0 < len(text.strip()) <= len(text) <= LONGEST[key]:
                raise RefusedError(f"--{key} takes one line of 1 to {LONGEST[key]:,} characters that print")
            if not (decides or session.is_interactive):
                raise RefusedError(f"--{key} signs a decision, and there is none to make here: leave it out")
    def record(self, record):
        if record.get("kind") not in SIGNED or not (self._is_due or record.get("how") == "answered here"):
            return record
        if self.session.options.command == "resume":
            self._is_due = False
        return {**record, "by": user(), **self._said()}
    def facts(self, state):
        keys, again = (*KNOWN, "by", "note"), ("after", "by", "note", "time")
        done = [{"step": one["node"], **{key: one[key] for key in keys if key in one}} for one in state.finished]
        decisions = [{key: one[key] for key in again if key in one} for one in state.decided if "by" in one]
        return {"finished": done, "decisions": decisions}
    def lines(self, facts, record):
        place = next((number for number, each in enumerate(facts["finished"], 1) if each is record), 0)
        is_told = record and record["outcome"] in TOLD_HOW and record["how"] not in ASSUMED
        about = [record["how"] if is_told else "", told_by(record)] if record else []
        again = (f"the next one was run again, {told_by(one)}" for one in facts["decisions"] if one["after"] == place)
        return [f"        {one_line(line)}" for line in (", ".join(filter(None, about)), *again) if line]

EXTENSIONS = (
    Signing, Shell, Asks, Stepping, Shared, Inputs, TaskInput, Secrets, Variables, Slots, Outputs, Limit,
    Pauses, Replies, Asked, OfGates, Moving, History,
)  # in the order in which they take part


if __name__ == "__main__":
    sys.exit(main(built(runbook, EXTENSIONS), EXTENSIONS, host=Host(edition="values 2f728635d38f")))
