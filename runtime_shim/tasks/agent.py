"""Agents, alone and in parallel: the command for each type, its prompt, and how to read its answer."""

import json
import os
import re
import types
from contextlib import suppress
from functools import cached_property
from typing import Any, ClassVar

from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Options, Performers, Session
from runtime_shim.engine.state import digest
from runtime_shim.engine.texts import MEANINGS, meant, one_line
from runtime_shim.engine.walk import Registers, filled, shown
from runtime_shim.io.answers import read_text
from runtime_shim.io.reading import AGENT_SECONDS, LARGEST_ANSWER, cleaned
from runtime_shim.tasks.calls import Caller
from runtime_shim.tasks.checklist import Checklists
from runtime_shim.tasks.exchange import Answered, Calls, Prompting, SearchError, answer_of, child_says, pairs
from runtime_shim.tasks.recipes import called, is_recipe, mistyped
from runtime_shim.tasks.verdicts import Joining, Reading, joined_answer, joined_word, read_word, split_words
from runtime_shim.values.fitting import MATCH
from runtime_shim.values.limits import number_of, seconds_of
from runtime_shim.values.settings import UNANSWERED


def above(program: Table, name: str, registers: Registers) -> str:
    """Return the text of a context after the contexts before it."""
    found: list[str] = []
    while name:
        context = program["contexts"][name]
        found[:0] = (part if isinstance(part, str) else shown(part, registers) for part in context["parts"])
        name = context.get("after", "")
    return "".join(found)


class Contexts(Extension):
    """Programs with text that several prompts share."""

    needs = ("contexts",)

    def identify(self, nodes: Table) -> Table:
        """Add to each step a digest of the context of its prompts."""
        known = {"": ""}
        for name, context in self.session.program["contexts"].items():
            known[name] = digest([context["parts"], known[context.get("after", "")]])

        parts = {name: (node, *node.get("entries", ())) for name, node in nodes.items()}
        found = {name: [known[one.get("context", "")] for one in parts[name]] for name in nodes}
        return {name: {**node, "above": found[name]} if any(found[name]) else node for name, node in nodes.items()}


LONGEST_SEARCH = 60  # seconds; `\\d+:` in a megabyte of digits may take hours


def named(options: types.SimpleNamespace, command: str) -> str:
    """Return the command of an agent, which may be a recipe's name, with the operator's model."""
    return called(command, (options.agent_model or "") if is_recipe(command) else "")


class Commanded(Caller):
    """Calls agents."""

    noun = "agent"
    seconds = AGENT_SECONDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        options = session.options
        self._common = options.agent or os.environ.get("RDC_AGENT") or None
        self._given = pairs("--agent-for", options.agent_for)
        for command in filter(None, (options.agent, *self._given.values())):
            if hint := mistyped(command):
                import shutil  # slow to import, and rarely needed

                if not shutil.which(command.strip()):
                    raise UsageError(f"unknown agent or command {one_line(command)}{hint}")
        calls = (each for node in session.program["nodes"].values() for each in (node, *node.get("entries", ())))
        types = {"", "inline", *(each["agent"] for each in calls if "agent" in each)}  # "", "inline": no type
        for name in (name for name in self._given if name not in types):
            hint = meant(name, types) or f"; the agents are {', '.join(sorted(filter(None, types)))}"
            raise UsageError(f"--agent-for {one_line(name)}: the document has no such agent{hint}")
        self.retries = number_of("--agent-retries", options.agent_retries, 0) if options.agent_retries else 0
        self.limit = seconds_of("--agent-timeout", options.agent_timeout) if options.agent_timeout else 0
        commands = [self._common or "", *self._given.values()]
        if options.agent_model and not any(map(is_recipe, commands)):
            called(next(filter(None, commands), ""), options.agent_model)

    @cached_property
    def _listed(self) -> dict[str, str]:
        """The commands in the file that RDC_AGENTS names; not read if `--agent` overrides it."""
        path = "" if self.session.options.agent else os.environ.get("RDC_AGENTS")
        lines = read_text(path).splitlines() if path else ()
        return pairs(f"RDC_AGENTS {path}", [line for line in lines if line.strip() and line.lstrip()[0] != "#"])

    def command_of(self, kind: str) -> "str | None":
        """Return the command for a type of agent."""
        found = self._given.get(kind) or self._listed.get(kind) or self._common
        return found and named(self.session.options, found)

    def prompt_of(self, node: Table, what: Table) -> str:
        """Return the prompt of a step, or of an entry of it, after its context."""
        now = self.session.state.registers
        prompt = filled(node, what["prompt"], now)
        return above(self.session.program, what["context"], now) + prompt if "context" in what else prompt

    def answered(self, name: str, reply: str) -> str:
        """Return a person's answer instead of an agent's; refuse an empty one."""
        answer = cleaned(reply)
        if not answer:
            raise UsageError(f"the answer for {one_line(name)} is empty")
        return answer

    def read(self, what: Table, answer: "str | None") -> tuple[str, str]:
        """Return the word of an agent's answer, and any problem."""
        settings = (what.get(field, ()) for field in ("excused", "failing"))
        reading = Reading(what.get("keywords", ()), what.get("validation"), *settings)
        try:
            return read_word(answer, reading, self._look)
        except SearchError as error:
            return read_word(None, reading)[0], f"searching for its validation pattern: {error}"

    def _look(self, function: str, pattern: str, answer: str) -> Any:  # a boolean or a list
        found = child_says(self.processes, MATCH, [function, re.IGNORECASE, pattern, answer], LONGEST_SEARCH, "-S")
        return json.loads(found) if found else ()


class Agents(Commanded):
    """Runs steps that prompt an agent."""

    def perform(self, name: str, node: Table) -> Done:
        """Send the prompt to the agent's command and read its answer."""
        prompt, done = self.prompt_of(node, node), self.from_file(name)
        if done is not None:
            return done
        if (command := self.command_of(node["agent"])) is None:
            return self.by_hand(name, {name: prompt})
        (answered,) = self.converse(node, [(name, node, command, prompt)])
        answer = answer_of(answered)
        word, trouble = self.read(node, answer)
        how = answered.trouble or trouble or ("" if answer else "an empty answer")
        return self.session.with_text(Done(word, how), answer or "")

    def facts(self, _name: str, node: Table) -> Table:
        """Return the prompt, and whether a command answers it."""
        return {"by": "rdc" if self.command_of(node["agent"]) else "agent", "text": self.prompt_of(node, node)}

    def given(self, name: str, reply: str, how: str) -> Done:
        """Read a person's answer."""
        node, answer = self.session.program["nodes"][name], self.answered(name, reply)
        if len(answer.encode()) > LARGEST_ANSWER:
            return Done(self.read(node, None)[0], "the answer is too long")
        word, trouble = self.read(node, answer)
        return self.session.with_text(Done(word, trouble or how), answer)


AGENT: Options = (
    ("run resume status", "--agent", "COMMAND", "agent for prompts: a command, or a name such as claude-code"),
    ("run resume status", "--agent-model", "MODEL", "model, if the agent is a name"),
)


class AgentTasks(Extension):
    """Programs with agents."""

    needs = ("agent", "parallel")
    options = (
        *AGENT,
        ("run resume status", "--agent-for", "TYPE=COMMAND...", "command for one type of agent"),
        ("run resume", "--agent-timeout", "TIME", "time limit of a call (default: 30m)"),
        ("run resume", "--agent-retries", "NUMBER", "how often to retry a failed call (default: 0)"),
    )
    performers: ClassVar[Performers] = {"agent": Agents}


# An agent answers questions only if the operator names it with --agent. Gates are for people.
CLOSING = "Answer {}. End your answer with a line that is just the reply."


class AgentPrompts(Checklists, Prompting):
    """Answers questions with the `--agent` of this call, or like any other question."""

    noun = "agent"
    seconds = AGENT_SECONDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._command = named(session.options, session.options.agent or "")

    def perform(self, name: str, node: Table) -> Done:
        """Ask the agent. The last line of its answer decides; anything but a known word means fail."""
        if not self._command or getattr(self.session.options, "is_reserved", False):  # for a person
            return super().perform(name, node)
        if (done := self.from_file(name)) is not None:
            return done
        session = self.session
        closing = CLOSING.format(node["question"].upper().replace("/", " or "))
        parts = (session.label(name), *(session.filled(node, key) for key in ("prompt", "block")), closing)
        (answered,) = self.converse(node, [(name, {}, self._command, "\n\n".join(filter(None, parts)) + "\n")])
        answer = answer_of(answered) or ""
        outcome = verdict(answer)
        how = answered.trouble or ("answered by the agent" if outcome else "the agent did not say pass or fail")
        return session.with_text(Done(outcome or "fail", how), answer)

    def facts(self, _name: str, _node: Table) -> Table:
        """Return whether the agent answers."""
        return {"by": "rdc"} if self._command else {}


def verdict(answer: str) -> "str | None":
    """Return the outcome in the last non-empty line of an answer. Only its letters count, in any case."""
    last = next((line for line in reversed(answer.split("\n")) if line.strip()), "")
    word = re.sub("[^A-Z]", "", last.upper()).lower()
    return "pass" if word == "ok" else MEANINGS.get(word)


class PromptCommands(Extension):
    """Programs with questions."""

    options = AGENT
    performers: ClassVar[Performers] = {"ask": AgentPrompts}


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

    def facts(self, name: str, node: Table) -> Table:
        """Return the prompts of the entries, and whether commands answer the due ones."""
        due, calls = self.unanswered(name), self._calls(name, node, [*range(len(node["entries"]))])
        is_called = all(command for entry, _, command, _ in calls if entry in due)
        entries = [{"entry": entry, "text": text, "answered": entry not in due} for entry, _, _, text in calls]
        return {"by": "rdc" if is_called else "agent", "entries": entries}

    def _calls(self, name: str, node: Table, due: list[int]) -> Calls:
        found = [(entry_names(name, node)[index], node["entries"][index]) for index in due]
        return [(each, what, self.command_of(what["agent"]) or "", self.prompt_of(node, what)) for each, what in found]

    def say(self, name: str, node: Table, due: list[int]) -> "list[str | None]":
        """Call the agents of some entries and return their answers for a workflow, which joins them in another job."""
        return list(map(answer_of, self.converse(node, self._calls(name, node, due))))

    def _recorded(self) -> Given:
        """Return the answers that the run has."""
        return {note["entry"]: note["answer"] for note in self.session.state.notes if note["kind"] == "entry"}

    def _said(self, name: str) -> Given:
        """Return the answers so far, by hand or from the file."""
        said = self._recorded()
        for index, entry in enumerate(entry_names(name, self.session.program["nodes"][name])):
            reply = None if index in said else self.take(entry)
            if reply is not None:
                said[index] = self.answered(entry, reply)
                self._note(index, said[index], **self.source)
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
        names, recorded = entry_names(step, self.session.program["nodes"][step]), self._recorded()
        return [entry for index, entry in enumerate(names) if index not in recorded]

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
