"""Random agent workflows as plain data and as documents, with the task of a run and what comes of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.differential.case import Json
from tests.differential.generate import Chance
from tests.support.hostile_texts import LINES, NASTY


@dataclass(frozen=True)
class Report:
    """A report; `phrases` is all that the validation pattern can match, None where that is no short list."""

    name: str
    format: str
    validation: str | None = None
    phrases: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class Step:
    """A step; `entries` have an agent and a prompt each, and stand in the place of the step's own."""

    name: str
    prompt: str = "Do it."
    agent: str = ""
    entries: tuple[tuple[str, str], ...] = ()
    check: str = "all"
    report: Report | None = None
    human: bool = False
    next: str = ""
    end: bool = False
    conditions: tuple[tuple[str, str], ...] = ()
    """Keywords, and the steps that they lead to."""
    max_visits: int = 0
    then: str = ""


@dataclass(frozen=True)
class Flow:
    steps: tuple[Step, ...]
    name: str = "a workflow"
    description: str | None = None
    max_steps: int | None = None

    @property
    def limit(self) -> int | None:
        """How many steps a run may take (W14)."""
        if self.max_steps is not None:
            return self.max_steps or None
        return max(10, 3 * len(self.steps))


@dataclass(frozen=True)
class Drawn:
    """A workflow with the task of a run, and what comes of each visit of a step and a gate, by step.

    An answer is `{"exit": 0, "answer": "printed"}`, of a parallel step `{"entries": [one for each]}`, of a gate
    `{"reply": true}`; the last one goes on forever.
    """

    flow: Flow
    task: str | None = None
    replies: Mapping[str, list[Json]] = field(default_factory=dict)


TASK_DONE = "TASK_DONE"


def keywords_of(step: Step) -> list[str]:
    """The candidates of a step (W9): of what the pattern can match, no phrase that holds a keyword of the author's."""
    own = [keyword for keyword, _ in step.conditions]
    found = [*own, TASK_DONE]
    for phrase in (step.report.phrases or ()) if step.report else ():
        holds = any(
            re.search(rf"(?<!\w){re.escape(word)}(?!\w)", phrase, re.IGNORECASE) for word in found[: len(own) + 1]
        )
        if not holds and phrase.casefold() not in {word.casefold() for word in found}:
            found.append(phrase)
    return found


# --- The document -----------------------------------------------------------------------------------------------------

_BLOCK = re.compile(r"[A-Za-z][\x21-\x7e ]*(?:\n(?:[\x21-\x7e][\x20-\x7e]*)?)*\n[A-Za-z.]+")
"""What a literal block can be: it begins and ends with a word."""


def document(flow: Flow) -> str:
    return "\n".join(_lines(flow)) + "\n"


def quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _lines(flow: Flow) -> Iterator[str]:
    yield f"name: {quoted(flow.name)}"
    if flow.description is not None:
        yield f"description: {quoted(flow.description)}"
    if flow.max_steps is not None:
        yield f"rdc: {{max-steps: {flow.max_steps}}}"
    yield "steps:"
    for step in flow.steps:
        yield from _step_lines(step)


def _step_lines(step: Step) -> Iterator[str]:
    yield f"  - name: {step.name}"
    if step.entries:
        yield f"    check: {step.check}"
        yield "    parallel:"
        for agent, prompt in step.entries:
            yield f"      - agent: {quoted(agent)}"
            yield f"        prompt: {_text(prompt, 10)}"
    else:
        yield from ((f"    agent: {quoted(step.agent)}",) if step.agent else ())
        yield f"    prompt: {_text(step.prompt, 6)}"
    if step.report:
        yield from _report_lines(step.report)
    yield from (("    human: true",) if step.human else ())
    yield from ((f"    next: {step.next}",) if step.next else ())
    yield from (("    end: true",) if step.end else ())
    if step.max_visits:
        yield f"    max_visits: {step.max_visits}"
        yield from ((f"    then: {quoted(f'STOP {quoted(step.then)}')}",) if step.then else ())
    if step.conditions:
        yield "    conditions:"
        yield from (f"      - {{keyword: {quoted(word)}, goto: {target}}}" for word, target in step.conditions)


def _report_lines(report: Report) -> Iterator[str]:
    yield f"    report: {{name: {report.name}, format: {quoted(report.format)}"
    yield f"      {', validation: ' + quoted(report.validation) if report.validation else ''}}}"


def _text(text: str, indent: int) -> str:
    if not _BLOCK.fullmatch(text):
        return quoted(text)
    return "|\n" + "\n".join(" " * indent + line if line else "" for line in text.split("\n"))


# --- Drawing ----------------------------------------------------------------------------------------------------------

NAMES = ("plan", "review", "build.it", "a-b_c", "Fix", "COMPLETE", "x1")
AGENTS = ("", "", "planner", "the coder", "jdi:review")
KEYWORDS = ("APPROVED", "REJECTED", "NEEDS WORK", "ok", "CHANGES_REQUESTED", "Готово", "C++")
EXITS = (0,) * 20 + (1,)
SAFE = tuple(line for line in LINES if line == line.strip())
TITLES = tuple(line for line in SAFE if line.isprintable() and len(line) < 100)


class Drawing(Chance):
    """One random workflow after its seed."""

    def drawn(self) -> Drawn:
        names = self._some(NAMES, 1, 5)
        steps = tuple(self._step(name, names, place) for place, name in enumerate(names))
        description = self._pick((None, "What to do", "two\nlines\n", self._pick(SAFE)))
        max_steps = self._pick((None, None, None, None, 0, 3, 12))
        flow = Flow(steps, self._pick(TITLES), description, max_steps)
        task = self._pick((None, "The task", self._pick(NASTY)))
        return Drawn(flow, task, {node: replies for step in steps for node, replies in self._replies(step)})

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _text(self) -> str:
        """Several lines that begin and end with a word."""
        parts = ["Do it."]
        for _ in range(self._number(0, 4)):
            parts += [self._pick(("\n", " ", "\n\n")), self._pick(SAFE)]
        return "".join(parts) + self._pick(("\nend", " end"))

    def _step(self, name: str, names: Sequence[str], place: int) -> Step:
        is_last = place == len(names) - 1
        words = self._some(KEYWORDS, 0, 3)
        conditions = tuple((word, self._pick(names)) for word in words)
        entries: tuple[tuple[str, str], ...] = ()
        if self._rarely(3):
            entries = tuple((self._pick(AGENTS[2:]), self._text()) for _ in range(self._number(1, 3)))
        follower = "" if is_last else names[place + 1]
        return Step(
            name,
            self._text(),
            self._pick(AGENTS),
            entries,
            self._pick(("all", "any")),
            self._report(f"report-{place}", words) if self._flag() else None,
            human=self._rarely(6),
            next=self._pick((follower, follower, "", self._pick(names))) if not is_last else "",
            end=is_last and not self._rarely(4),
            conditions=conditions,
            max_visits=self._number(1, 3) if self._rarely(3) else 0,
            then=self._pick(("", "enough", self._pick(TITLES).replace("\\", ""))),
        )

    def _report(self, name: str, words: Sequence[str]) -> Report:
        form = self._pick(("## Report", "## One\n- two", self._pick(SAFE)))
        both = [word for word in (*words, self._pick(KEYWORDS[:2])) if word != "C++"] or ["ok"]
        if self._rarely(3):
            return Report(name, form)
        joined = "|".join(dict.fromkeys(both))
        patterns: tuple[tuple[str, tuple[str, ...] | None], ...] = (
            (joined, tuple(both)),
            (f"({joined})", tuple(both)),
            (f"^(?:{joined})?", tuple(both)),
            (rf"Verdict:\s*({joined})", tuple(both)),
            (f"Verdict: (?:{joined})", tuple(f"Verdict: {word}" for word in both)),
            (r"\w", None),
            (".*", None),
        )
        pattern, phrases = self._pick(patterns)
        return Report(name, form, pattern, phrases)

    # --- What comes of it ---------------------------------------------------------------------------------------------

    def _replies(self, step: Step) -> list[tuple[str, list[Json]]]:
        found: list[tuple[str, list[Json]]] = []
        if step.human:
            found.append((f"{step.name}/human", [{"reply": not self._rarely(6)} for _ in range(2)]))
        replies: list[Json] = []
        for _ in range(self._number(1, 3)):
            if step.entries:
                replies.append({"entries": [self._answer(step) for _ in step.entries]})
            else:
                replies.append(self._answer(step))
        return [*found, (step.name, replies)]

    def _answer(self, step: Step) -> Json:
        words = [word for word in keywords_of(step) if word != "TASK_DONE"] or ["ok"]
        words += ["TASK_DONE"] if self._rarely(5) else []
        lines = [self._pick((self._pick(words), self._pick(NASTY), "x")) for _ in range(self._number(0, 2))]
        last = self._pick(words)
        forms = (last, f"**{last}**", last.lower(), f"{last}_not", f"not{last}", f"Verdict: {last}", f"I say {last}.")
        quoted = (f"> {last}", f"```\n{last}\n```", f"<!-- {last} -->", f"not yet: {last}")
        more = (f"## {last}", f"{last}: because", f"\n{last}", *quoted, f"{last} or {self._pick(words)}")
        lines.append(self._pick((last, last, last, last, *forms, *more)))
        printed = "\n".join(lines) + self._pick(("", "\n", " \n", "\r\n"))
        return {"exit": self._pick(EXITS), "answer": "" if self._rarely(40) else printed}


def random_workflow(seed: int) -> Drawn:
    return Drawing(seed).drawn()
