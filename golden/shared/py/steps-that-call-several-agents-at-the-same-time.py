# --- Steps that call several agents at the same time, and join their words by index.
def entry_names(name, node):
    return [f"{name}_{index}" for index in range(len(node["entries"]))]

class Parallels(Commanded):
    jobs = 0  # how many entries are called at the same time, 0 for all
    def __init__(self, session):
        super().__init__(session)
        given = session.options.jobs
        self.jobs = number_of("--jobs", given, 1) if given else 0
    def perform(self, name, node):
        said, names = self._said(name), entry_names(name, node)
        due = [index for index in range(len(names)) if index not in said]
        calls = self._calls(name, node, due)
        if not all(command for _, _, command, _ in calls):
            return self._by_hand(name, calls)
        answers = self.converse(node, calls)
        said.update(zip(due, map(answer_of, answers)))  # Python 3.9 has no `strict`
        troubles = [(names[index], answered.trouble) for index, answered in zip(due, answers)]
        return self._joined(name, said, ", ".join(f"{entry}: {trouble}" for entry, trouble in troubles if trouble))
    def _calls(self, name, node, due):
        names, entries = entry_names(name, node), [(index, node["entries"][index]) for index in due]
        return [
            (names[index], entry, self.command_of(entry["agent"]) or "", self._prompt(node, entry))
            for index, entry in entries
        ]
    def say(self, name, node, due):
        return list(map(answer_of, self.converse(node, self._calls(name, node, due))))
    def call(self, node, calls):
        most = self.jobs or len(calls) or 1
        pieces = [calls[place : place + most] for place in range(0, len(calls), most)]
        return [answered for piece in pieces for answered in super(Parallels, self).call(node, piece)]
    def _prompt(self, node, entry):
        now = self.session.state.registers
        prompt = filled(node, entry["prompt"], now)
        return above(self.session.program, entry["context"], now) + prompt if "context" in entry else prompt
    def _said(self, name):
        notes = [note for note in self.session.state.notes if note["kind"] == "entry"]
        said = {note["entry"]: note["answer"] for note in notes}
        names = entry_names(name, self.session.program["nodes"][name])
        for index, entry in enumerate(names):
            reply, note = self.take(entry) if index not in said else (None, {})
            if reply is not None:
                said[index] = self.answered(entry, reply)
                self._note(index, said[index], **note)
        return said
    def settled(self, name, answered):
        node = self.session.state.node
        index, answer = entry_names(node, self.session.program["nodes"][node]).index(name), answer_of(answered)
        if answer:
            with suppress(RefusedError):  # a full disk is no reason to end the others half-way; the outcome will tell
                self._note(index, answer)
    def _note(self, index, answer, **more):
        self.session.record({"kind": "entry", "entry": index, "answer": answer, **more})
    def _by_hand(self, name, calls):
        session = self.session
        session.record({"kind": "wait", "condition": "waiting"})
        for entry, _, _, prompt in calls:
            session.display.line(f"    {entry}:")
            for line in clean(prompt).splitlines():
                session.display.line(f"        {line}".rstrip())
            if session.is_interactive:
                done = self.at_terminal(entry, entry)
                if done is not None:
                    return done
        names, said = entry_names(name, session.program["nodes"][name]), self._said(name)
        raise self.not_called(next(one for index, one in enumerate(names) if index not in said))
    def given(self, name, reply, how):
        node = self.session.state.node
        step = self.session.program["nodes"][node]
        index, said = entry_names(node, step).index(name), self._said(node)
        if index in said:
            raise RefusedError(f"{name} was answered before")
        said[index] = self.answered(name, reply)
        self._note(index, said[index])
        return self._joined(node, said, how) if len(said) == len(step["entries"]) else None
    def _joined(self, name, said, how):
        node = self.session.program["nodes"][name]
        answers = [said[index] or None for index in range(len(node["entries"]))]
        found = list(map(self.read, node["entries"], answers))
        told = zip(entry_names(name, node), found)
        troubles = [f"{entry}: {trouble}" for entry, (_word, trouble) in told if trouble]
        word = joined_word([word for word, _trouble in found], node["check"], node["failing"], node["unanimous"])
        return self.session.told(Done(word, ", ".join(filter(None, [how, *troubles]))), joined_answer(answers))
    @staticmethod
    def names(name, node):
        return entry_names(name, node)
    def variables(self, name, what):
        return {**super().variables(name, what), "RDC_ENTRY": name.rpartition("_")[2]}
    def preview(self, name, _node):
        return Done(self.first_word(name), "assumed")

class OfParallels(Extension):
    options = (("run resume", "--jobs", "NUMBER", "how many entries of a parallel step are called at the same time"),)
    performers = {"parallel": Parallels}
    @staticmethod
    def suits(program):
        return any(node["task"] == "parallel" for node in program["nodes"].values())

