"""Steps that call several agents at the same time and join their words."""

from contextlib import suppress
from typing import ClassVar

from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Performers, Session
from runtime_shim.tasks.agent import Commanded
from runtime_shim.tasks.exchange import Answered
from runtime_shim.tasks.prompting import Calls, answer_of
from runtime_shim.tasks.verdicts import Joining, joined_answer, joined_word, split_words
from runtime_shim.values.settings import UNANSWERED, number_of

Given = dict[int, "str | None"]


def entry_names(name: str, node: Table) -> list[str]:
    """Return the names of a step's entries: `review_0`, `review_1`."""
    return [f"{name}_{index}" for index in range(len(node["entries"]))]


class Parallels(Commanded):
    """Calls the agents of all entries and joins their answers."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.jobs = number_of("--jobs", session.options.jobs, 1) if session.options.jobs else 0

    def perform(self, name: str, node: Table) -> Done:
        """Call the agents, or let a person answer if one has no command."""
        said, names = self._said(name), entry_names(name, node)
        due = [index for index in range(len(names)) if index not in said]
        calls = self._calls(name, node, due)
        if not all(command for _, _, command, _ in calls):
            return self.by_hand(name, {entry: prompt for entry, _, _, prompt in calls})
        answers = self.converse(node, calls)
        said.update(zip(due, map(answer_of, answers)))
        troubles = [(names[index], answered.trouble) for index, answered in zip(due, answers)]
        return self._joined(name, said, ", ".join(f"{entry}: {trouble}" for entry, trouble in troubles if trouble))

    def _calls(self, name: str, node: Table, due: list[int]) -> Calls:
        """Return the calls of the entries that have no answer yet."""
        found = [(entry_names(name, node)[index], node["entries"][index]) for index in due]
        return [(each, what, self.command_of(what["agent"]) or "", self.prompt_of(node, what)) for each, what in found]

    def say(self, name: str, node: Table, due: list[int]) -> "list[str | None]":
        """Call the agents of some entries and return their answers for a workflow, which joins them in another job."""
        return list(map(answer_of, self.converse(node, self._calls(name, node, due))))

    def _said(self, name: str) -> Given:
        """Return the answers so far, by hand or from the file."""
        notes = [note for note in self.session.state.notes if note["kind"] == "entry"]
        said: Given = {note["entry"]: note["answer"] for note in notes}
        for index, entry in enumerate(entry_names(name, self.session.program["nodes"][name])):
            reply, note = self.take(entry) if index not in said else (None, {})
            if reply is not None:
                said[index] = self.answered(entry, reply)
                self._note(index, said[index], **note)
        return said

    def settled(self, name: str, answered: Answered) -> None:
        """Record an entry's answer, so that a resume does not call it again."""
        node = self.session.state.node
        index, answer = entry_names(node, self.session.program["nodes"][node]).index(name), answer_of(answered)
        if answer:
            with suppress(UsageError):  # a full disk does not end the others; the outcome reports it
                self._note(index, answer)

    def _note(self, index: int, answer: "str | None", **more: object) -> None:
        self.session.record({"kind": "entry", "entry": index, "answer": answer, **more})

    def unanswered(self, step: str) -> list[str]:
        """Return the entries that still need an answer."""
        names, said = entry_names(step, self.session.program["nodes"][step]), self._said(step)
        return [entry for index, entry in enumerate(names) if index not in said]

    def given(self, name: str, reply: str, how: str) -> "Done | None":
        """Record the answer to an entry; the last one decides the step."""
        node = self.session.state.node
        step = self.session.program["nodes"][node]
        index, said = entry_names(node, step).index(name), self._said(node)
        if index in said:
            raise UsageError(f"{name} is already answered")
        said[index] = self.answered(name, reply)
        self._note(index, said[index])
        return self._joined(node, said, how) if len(said) == len(step["entries"]) else None

    def _joined(self, name: str, said: Given, how: str) -> Done:
        """Return the outcome of the answers of all entries together, and why some of them do not count."""
        node = self.session.program["nodes"][name]
        names, entries, unanimous = entry_names(name, node), node["entries"], node["unanimous"]
        found = [self.read({**entry, "failing": node["failing"]}, said[index]) for index, entry in enumerate(entries)]
        answers, words = [said[index] or None for index in range(len(names))], [word for word, _trouble in found]
        bad = [(entry, why or word) for entry, (word, why) in zip(names, found) if why or word in UNANSWERED]
        troubles = [f"{entry}: {trouble}" for entry, trouble in bad if f"{entry}: " not in how]
        decides = any(set(entry.get("keywords", ())) - set(unanimous) for entry in entries)
        joining = Joining(node["check"], node["failing"], unanimous, decides)
        word = joined_word(words, joining)
        if word == "ambiguous" and word not in words:
            troubles.append(split_words(names, words, joining))
        return self.session.with_text(Done(word, ", ".join(filter(None, [how, *troubles]))), joined_answer(answers))

    @staticmethod
    def names(name: str, node: Table) -> list[str]:
        """Return the names of the entries, which are answered separately."""
        return entry_names(name, node)

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Add the entry's number to the variables."""
        return {**super().variables(name, what), "RDC_ENTRY": name.rpartition("_")[2]}

    def preview(self, name: str, _node: Table) -> Done:
        """Assume the first ordinary word for all entries."""
        return Done(self.first_word(name), "assumed")


class ParallelTasks(Extension):
    """Programs with parallel steps."""

    needs = ("parallel",)
    options = (("run resume", "--jobs", "NUMBER", "how many agents of a parallel step to call at a time"),)
    performers: ClassVar[Performers] = {"parallel": Parallels}
