"""Write draft scenarios for documents with agents, tools or stages: their answers lead along a path (S1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, product
from typing import NamedTuple

from compiler.analyses.domains import OTHER
from compiler.diagnostic import has_error
from compiler.drafts import MADE_UP, Draft, comment, scalar
from compiler.frontends.call_scenarios import read_file
from compiler.ir.answers import of_agent
from compiler.ir.paths import Path, Visit
from compiler.ir.patterns import sample
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, State
from compiler.ir.tasks import FAILED, Agent, Ask, Gate, Parallel, Stage, Task, Tool, Verdict, alphabet
from compiler.scenarios import Scenario
from compiler.source import Source
from runtime_shim.tasks.verdicts import joined_word

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
        kept = {step: _needed(texts) if step in stages else texts for step, texts in steps.items()}
        if any(kept.values()):
            lines += [f"{group}:", *(f"  {scalar(step)}: {_value(texts)}" for step, texts in kept.items() if texts)]
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
    elif isinstance(task, Ask) and task.question == "input":
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
    alike = ((said,) * len(choices) for said in alphabet(task) if all(said in one for one in choices))
    tried = islice(chain(alike, product(*choices)), _MOST_TRIED)
    words = next((words for words in tried if joined_word(words, task.joining) == word), None)
    return words and tuple(one[said] for one, said in zip(choices, words, strict=True))
