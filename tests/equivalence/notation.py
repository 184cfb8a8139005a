"""A short way to write models and paths in tests.

`step("1", "FAIL: RETRY 2 GOTO 3")` is a step with a transition; further parts are substeps, or the paths of
runbooks. `expect("1- 1#2+ => COMPLETE", ...)` gives the outcomes and the path that must follow from them.
"""

from __future__ import annotations

from tests.equivalence.cases import show_path
from tests.equivalence.model import (
    Action,
    Complete,
    Continue,
    Files,
    Goto,
    Leaf,
    Result,
    Retry,
    Runbook,
    Runbooks,
    Step,
    Stop,
    Substep,
    Substeps,
    Transitions,
)
from tests.equivalence.oracle import walk
from tests.equivalence.visits import Visit


def action(text: str) -> Action:
    """An action from its words; the rest of the text is the message."""
    word, _, rest = text.partition(" ")
    match word:
        case "CONTINUE":
            return Continue()
        case "COMPLETE":
            return Complete(rest)
        case "STOP":
            return Stop(rest)
        case "GOTO":
            return goto(rest)
        case _:
            raise ValueError(text)


def goto(text: str) -> Goto:
    """The target of a jump."""
    first, _, rest = text.partition(" ")
    advance = first == "NEXT"
    target = rest if advance else first
    step, _, child = target.partition(".")
    return Goto(step or None, child or None, advance)


def result(text: str) -> Result:
    """An action, or `RETRY count action`."""
    if not text.startswith("RETRY "):
        return action(text)
    _, count, then = text.split(" ", 2)
    return Retry(int(count), action(then))


def transitions(lines: list[str]) -> Transitions:
    """The lines `PASS [modifier]: result` and `FAIL [modifier]: result`."""
    written = {head.split()[0]: result(tail) for head, tail in (line.split(": ", 1) for line in lines)}
    optimistic = any(line.startswith(("PASS ANY", "FAIL ALL")) for line in lines)
    return Transitions(written.get("PASS"), written.get("FAIL"), optimistic)


def _runbooks(parts: list[str]) -> tuple[Runbooks | None, list[str]]:
    paths = [part for part in parts if part.endswith(".runbook.md")]
    rest = [part for part in parts if part not in paths]
    return (Runbooks(tuple(paths)) if paths else None), rest


LEAF = Leaf(code="true", info="sh")


def sub(ident: str, *parts: str) -> Substep:
    """A substep; its identifier is the part after the dot."""
    runbooks, lines = _runbooks(list(parts))
    return Substep(ident, runbooks or LEAF, transitions(lines))


def step(ident: str, *parts: str | Substep) -> Step:
    """A step with its transitions, and its substeps or runbooks if it has any."""
    children = tuple(part for part in parts if isinstance(part, Substep))
    runbooks, lines = _runbooks([part for part in parts if isinstance(part, str)])
    body = Substeps(children) if children else runbooks or LEAF
    return Step(ident, body, transitions(lines))


def book(*steps: Step) -> Runbook:
    """A runbook."""
    return Runbook(steps)


def expect(text: str, *steps: Step, files: Files | None = None) -> None:
    """Assert that the path is this one, when its steps have the outcomes in it."""
    words = text.partition("=>")[0].split()

    def outcome_of(visit: Visit) -> bool:
        return visit.index < len(words) and words[visit.index].endswith("+")

    assert show_path(walk(Runbook(steps), files or {}, outcome_of, limit=max(len(words), 1))) == text
