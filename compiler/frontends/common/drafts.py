"""Draft scenarios as lines of YAML for an author to edit (`rdc test --init`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import chain, islice, product
from typing import NamedTuple, Protocol

from msgspec import Struct

from compiler.analyses.domains import OTHER
from compiler.diagnostics.model import has_error
from compiler.frontends.common.interface import Format
from compiler.frontends.common.scenarios import read_file
from compiler.ir.answers import of_agent
from compiler.ir.paths import Path, Visit
from compiler.ir.patterns import sample
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, State
from compiler.ir.tasks import FAILED, Agent, Ask, Gate, Parallel, Stage, Task, Tool, Verdict, alphabet
from compiler.scenarios.model import Result, Scenario
from compiler.text.regex import Regex
from compiler.text.source import Source
from runtime_shim.tasks.verdicts import joined_word

MADE_UP = "made up"
"""The comment on a value that the document doesn't determine."""

_PLAIN = Regex(r"[A-Za-z][\w./×-]*(?:,? [\w./×-]+)*")
_TAKEN = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})
"""Words that YAML reads as other values."""

_UNSAFE = Regex("[^\t\x20-\x7e\x85\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class Draft(Struct, frozen=True):
    """A scenario for one path of a program. The values of `made_up` inputs are only examples."""

    name: str
    description: str
    inputs: Mapping[str, str]
    made_up: frozenset[str]
    path: Path
    ends: Result


class Writer(Protocol):
    """The functions of a format's module for draft scenarios."""

    def is_possible(self, program: Program, path: Path) -> bool:
        """Return whether there are answers that lead along a path."""

    def script(self, program: Program, draft: Draft, document: str) -> list[str]:
        """Return the keys that describe a run, as lines of YAML."""

    def read(self, source: Source, program: Program) -> tuple[Scenario, ...] | None:
        """Return the scenarios in a companion file, or None if it has errors."""


def writer_of(form: Format) -> Writer | None:
    """Return the writer of a format, or None if its documents have no scenarios."""
    if not form.drafts:
        return None
    module: Writer = import_module(form.drafts)
    return module


def entry(program: Program, draft: Draft, document: str, writer: Writer) -> list[str]:
    """Return a scenario as lines of YAML."""
    lines = [f"description: {scalar(draft.description)}"]
    if draft.inputs:
        lines.append("inputs:")
        lines += (
            f"  {scalar(name)}: {scalar(value)}{comment(MADE_UP if name in draft.made_up else '')}"
            for name, value in draft.inputs.items()
        )
    lines += [*writer.script(program, draft, document), f"result: {draft.ends}"]
    return [f"{scalar(draft.name)}:", *indented(lines)]


def scalar(text: str) -> str:
    """Return a YAML string, quoted unless it is certainly read as a string."""
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    if text.isprintable() and ('"' in text or "\\" in text):
        return "'" + text.replace("'", "''") + "'"
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def comment(text: str) -> str:
    """Return a comment for the end of a line, or "" without text."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return f"  # {line}" if line else ""


def indented(lines: Sequence[str], by: int = 2) -> Iterator[str]:
    """Yield indented lines."""
    return (f"{' ' * by}{line}" for line in lines)


ANYTHING = "an answer"
_NEUTRAL = (ANYTHING, "text", "...", "0")
"""Answers that rarely contain a keyword or match a pattern."""

_MOST_TRIED = 4096
_FAILURE = '{fail: "the call failed"}'
_GROUPS = ("agents", "tools", "answers")


class _Answer(NamedTuple):
    """The answer of a step in one visit; `text` is None if the call fails."""

    group: str
    step: str
    text: str | None


def is_possible(program: Program, path: Path) -> bool:
    """Return whether answers exist for a path; without validation, for example, no answer is invalid."""
    nodes = program.index()
    words = dict.fromkeys((made.step, made.outcome.word) for made in path.visits)
    return all(_can_have(nodes[step].task, word) for step, word in words)


def _can_have(task: Task, word: str) -> bool:
    if isinstance(task, Parallel):
        return parallel_answers(task, word) is not None
    return not isinstance(task, Agent) or word in (FAILED, Verdict.FAIL) or agent_answer(task, word) is not None


def script(program: Program, draft: Draft, document: str) -> list[str]:  # noqa: ARG001 (the same for all formats)
    """Return the answers of agents, tools, people and stages along a path."""
    found: dict[str, dict[str, list[str | None]]] = {group: {} for group in _GROUPS}
    for answer in _answers(program, draft):
        found[answer.group].setdefault(answer.step, []).append(answer.text)
    stages = {node.id for node in program.nodes if isinstance(node.task, Stage)}
    lines: list[str] = []
    for group, steps in found.items():
        needed = {step: _needed(texts) if step in stages else texts for step, texts in steps.items()}
        if any(needed.values()):
            lines += [f"{group}:", *(f"  {scalar(step)}: {_value(texts)}" for step, texts in needed.items() if texts)]
    return lines


def read(source: Source, program: Program) -> tuple[Scenario, ...] | None:
    """Return the scenarios in a companion file, or None if it has errors."""
    found = read_file(source, program)
    return None if has_error(found.diagnostics) else found.scenarios


def _needed(texts: Sequence[str | None]) -> list[str | None]:
    """Return a stage's outcomes without trailing ones that pass anyway (I32)."""
    left = list(texts)
    while left and left[-1] == "pass":
        left.pop()
    return left


def _value(texts: Sequence[str | None]) -> str:
    shown = [_FAILURE if text is None else scalar(text) for text in texts]
    if len(shown) > 1:  # in a list, a comma ends a plain string
        shown = [f'"{one}"' if "," in one and one[0] not in '"{' else one for one in shown]
    value = shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
    return value + comment(MADE_UP if any(text in _NEUTRAL or (text and OTHER in text) for text in texts) else "")


def _answers(program: Program, draft: Draft) -> Iterator[_Answer]:
    machine = Machine(program)
    state = machine.start(draft.inputs)
    for made in draft.path.visits:
        yield from _of_visit(machine, state, made)
        state = machine.advance(state, made.outcome).state


def _of_visit(machine: Machine, state: State, made: Visit) -> Iterator[_Answer]:
    task, outcome = machine.nodes[made.step].task, made.outcome
    if isinstance(task, Agent):
        yield _Answer("agents", made.step, agent_answer(task, outcome.word, outcome.text))
    elif isinstance(task, Parallel):
        texts = parallel_answers(task, outcome.word) or ()
        yield from (_Answer("agents", f"{made.step}_{place}", text) for place, text in enumerate(texts))
    elif isinstance(task, Tool):
        yield _Answer("tools", made.step, (outcome.text or ANYTHING) if outcome.word == "pass" else None)
    elif isinstance(task, Ask) and task.question == "select":
        place = [str(option) for option in task.options].index(outcome.word)
        yield _Answer("answers", made.step, machine.text(state, task.options[place]))
    elif isinstance(task, Ask) and task.question in ("input", "value"):
        yield _Answer("answers", made.step, outcome.text or ANYTHING)
    elif isinstance(task, Ask | Gate | Stage):
        yield _Answer("answers", made.step, outcome.word)


@lru_cache(maxsize=256)
def agent_answer(task: Agent, word: str, text: str = "") -> str | None:
    """Return an answer that yields this word and contains the text; None for a failed call or if none is found."""
    reading = task.reading
    others = (f"{word} {other}" for other in reading.keywords if other != word)
    words = ("", word, *others) if word in reading.keywords else ("",)
    two = " ".join(reading.keywords[:2])
    pattern = sample(reading.validation) if reading.validation else ""
    named = next((other for other in reading.keywords if other in pattern), word)
    parts = product((text,), (*words, two), ("", pattern, pattern.replace(named, word)))
    given = ("\n".join(filter(None, (first, second, third))) for first, third, second in parts)
    turned = ("\n".join(filter(None, (text, one, pattern))) for one in (*words, two))
    tried = chain(given, turned, () if text else _NEUTRAL)
    return next((one for one in tried if one and of_agent(task, one.encode()).word == word), None)


@lru_cache(maxsize=256)
def parallel_answers(task: Parallel, word: str) -> tuple[str | None, ...] | None:
    """Return the entries' answers that yield this joined word, the same for all entries if possible, or None."""
    choices = [
        {one: text for one in alphabet(entry) if (text := agent_answer(entry, one)) or one in (FAILED, Verdict.FAIL)}
        for entry in task.entries
    ]
    alike = ((verdict,) * len(choices) for verdict in alphabet(task) if all(verdict in one for one in choices))
    tried = islice(chain(alike, product(*choices)), _MOST_TRIED)
    words = next((words for words in tried if joined_word(words, task.joining) == word), None)
    return words and tuple(one[verdict] for one, verdict in zip(choices, words, strict=True))
