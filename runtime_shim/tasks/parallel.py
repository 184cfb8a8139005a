"""Steps that call several agents at the same time, and join their words by index (I14)."""

from contextlib import suppress
from typing import Optional

from runtime_shim.data.agreed import number_of
from runtime_shim.engine.lifecycle import Done, Extension
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.texts import clean
from runtime_shim.engine.walk import filled
from runtime_shim.tasks.agent import Commanded, above
from runtime_shim.tasks.conversing import Calls, answer_of
from runtime_shim.tasks.exchange import Answered
from runtime_shim.tasks.verdicts import joined_answer, joined_word

Given = dict[int, Optional[str]]


def entry_names(name: str, node: Table) -> list[str]:
    """Return the names of the entries of a step: `review_0`, `review_1`."""
    return [f"{name}_{index}" for index in range(len(node["entries"]))]


class Parallels(Commanded):
    """Calls the agents of all entries and joins what they say."""

    jobs = 0  # how many entries are called at the same time, 0 for all

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        given = getattr(session.options, "jobs", None)
        self.jobs = number_of("--jobs", given, 1) if given else 0

    def perform(self, name: str, node: Table) -> Done:
        """Call what has a command, and put the rest to a person."""
        said = self._said(name)
        names, commands = entry_names(name, node), [self.command_of(entry["agent"]) for entry in node["entries"]]
        due = [index for index in range(len(names)) if index not in said]
        if any(commands[index] is None for index in due):
            return self._by_hand(name, node, due)
        troubles = []
        for index, answered in zip(due, self.say(name, node, due)):  # noqa: B905 - Python 3.9 has no `strict`
            said[index] = answer_of(answered)
            if answered.trouble:
                troubles.append(f"{names[index]}: {answered.trouble}")
        return self._joined(name, said, ", ".join(troubles))

    def say(self, name: str, node: Table, due: list[int]) -> list[Answered]:
        """Call the agents of some entries."""
        names, entries = entry_names(name, node), node["entries"]
        calls = [
            (names[at], entries[at], self.command_of(entries[at]["agent"]) or "", self._prompt(node, at)) for at in due
        ]
        return self.converse(node, calls)

    def call(self, node: Table, calls: Calls) -> list[Answered]:
        """Call agents at the same time, or as many as may be at work."""
        most = self.jobs or len(calls) or 1
        pieces = [calls[place : place + most] for place in range(0, len(calls), most)]
        return [answered for piece in pieces for answered in super(Parallels, self).call(node, piece)]

    def _prompt(self, node: Table, index: int) -> str:
        entry, now = node["entries"][index], self.session.state.registers
        prompt = filled(node, entry["prompt"], now)
        if "context" in entry:
            prompt = above(self.session.program, entry["context"], now) + prompt
        return prompt

    def _said(self, name: str) -> Given:
        """Return what was answered by hand, or by the file, so far."""
        notes = [note for note in self.session.state.notes if note["kind"] == "entry"]
        said: Given = {note["entry"]: note["answer"] for note in notes}
        names = entry_names(name, self.session.program["nodes"][name])
        answers = self.session.answers
        for index, entry in enumerate(names):
            answer = answers.take(entry, False) if answers is not None and index not in said else None
            if answer is not None and answers is not None:
                said[index] = self.answered(entry, answer.reply)
                self._note(index, said[index], answers=answers.digest, line=answer.line)
        return said

    def settled(self, name: str, answered: Answered) -> None:
        """Record the answer of an entry: who goes on with the run does not call it again."""
        node = self.session.state.node
        index, answer = entry_names(node, self.session.program["nodes"][node]).index(name), answer_of(answered)
        if answer:
            with suppress(RefusedError):  # a full disk is no reason to end the others half-way; the outcome will tell
                self._note(index, answer)

    def _note(self, index: int, answer: Optional[str], **more: object) -> None:
        self.session.record({"kind": "entry", "entry": index, "answer": answer, **more})

    def _by_hand(self, name: str, node: Table, due: list[int]) -> Done:
        session, names = self.session, entry_names(name, node)
        session.record({"kind": "wait", "condition": "waiting"})
        for index in due:
            session.display.line(f"    {names[index]}:")
            for line in clean(self._prompt(node, index)).splitlines():
                session.display.line(f"        {line}".rstrip())
            if session.is_interactive:
                done = self.at_terminal(names[index], names[index])
                if done is not None:
                    return done
        raise self.not_called(names[min(set(due) - set(self._said(name)))])

    def given(self, name: str, reply: str, how: str) -> Optional[Done]:
        """Take the answer to an entry; the last one of them settles the step."""
        node = self.session.state.node
        step = self.session.program["nodes"][node]
        index, said = entry_names(node, step).index(name), self._said(node)
        if index in said:
            raise RefusedError(f"{name} was answered before")
        said[index] = self.answered(name, reply)
        self._note(index, said[index])
        return self._joined(node, said, how) if len(said) == len(step["entries"]) else None

    def _joined(self, name: str, said: Given, how: str) -> Done:
        node = self.session.program["nodes"][name]
        answers = [said[index] or None for index in range(len(node["entries"]))]
        found = [self.read(entry, answer) for entry, answer in zip(node["entries"], answers)]  # noqa: B905
        words = [word for word, _trouble in found]
        troubles = [f"{one}: {trouble}" for one, (_word, trouble) in zip(entry_names(name, node), found) if trouble]  # noqa: B905
        how = ", ".join(filter(None, [how, *troubles]))
        word = joined_word(words, node["check"], node["failing"], node["unanimous"])
        return self.session.told(Done(word, how), joined_answer(answers))

    @staticmethod
    def names(name: str, node: Table) -> list[str]:
        """Return the names of the entries: each is answered by itself."""
        return entry_names(name, node)

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Add the number of the entry."""
        return {**super().variables(name, what), "RDC_ENTRY": name.rpartition("_")[2]}

    def preview(self, name: str, _node: Table) -> Done:
        """Assume that all entries say their first keyword, or pass."""
        return Done(self._first(name), "assumed")


class OfParallels(Extension):
    """Programs with such steps."""

    options = (("run resume", "--jobs", "NUMBER", "how many entries of a parallel step are called at the same time"),)
    performers = {"parallel": Parallels}

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has any."""
        return any(node["task"] == "parallel" for node in program["nodes"].values())
