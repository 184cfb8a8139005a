"""Which steps a runbook has, and which jumps rule V10 allows from each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

from .model import CHILD_TEMPLATE, STEP_TEMPLATE, Goto

# Names that a careless reader takes for something else: none of them is reserved.
STEP_NAMES = ("Recover", "Next", "N", "_x1", "PASSED", "retry", "run", "help", "done", "PATH", "rdc_node", "null", "s1")
CHILD_NAMES = ("Check", "n", "Recover", "Stop", "GOTO_1", "IFS", "if", "answers", "result", "on", "s1_1", "text")

_is_named = st.sampled_from([False, False, False, True])
_child_kinds = st.sampled_from(["none", "none", "static", "static", "template"])


@st.composite
def _names(draw: st.DrawFn, names: tuple[str, ...]) -> Iterator[str]:
    """All names, from any of them on."""
    first = draw(st.sampled_from(range(len(names))))
    return iter(names[first:] + names[:first])


@dataclass(frozen=True)
class Outline:
    """The identifiers of the steps in document order, each with those of its children."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]

    def has(self, step: str) -> bool:
        """Whether there is such a step."""
        return any(ident == step for ident, _ in self.steps)


@st.composite
def step_idents(draw: st.DrawFn, most: int) -> tuple[str, ...]:
    """V2, V3: numbered steps or one `{N}`, named ones among them; sometimes named ones only."""
    named = [draw(_is_named) for _ in range(draw(st.integers(1, most)))]
    dynamic = draw(st.booleans())
    names = draw(_names(STEP_NAMES))
    idents: list[str] = []
    numbers = 0
    for is_named in named:
        numbers += not is_named
        if is_named or (dynamic and numbers > 1):
            idents.append(next(names))
        else:
            idents.append(STEP_TEMPLATE if dynamic else str(numbers))
    return tuple(idents)


@st.composite
def child_idents(draw: st.DrawFn, most: int) -> tuple[str, ...]:
    """V4: no children, numbered and named ones in any order, or `{n}` alone."""
    kind = draw(_child_kinds)
    if kind == "none":
        return ()
    if kind == "template":
        return (CHILD_TEMPLATE,)
    names = draw(_names(CHILD_NAMES))
    idents: list[str] = []
    numbers = 0
    for _ in range(draw(st.integers(1, most))):
        is_named = draw(_is_named)
        numbers += not is_named
        idents.append(next(names) if is_named else str(numbers))
    return tuple(idents)


@st.composite
def outlines(draw: st.DrawFn, most: int) -> Outline:
    """Outlines of at most so many steps, with at most so many children each."""
    idents = draw(step_idents(most))
    return Outline(tuple((ident, draw(child_idents(most))) for ident in idents))


def targets(outline: Outline, step: str, child: str | None) -> list[Goto]:
    """Every jump that a step may make (V10), the plain ones first; those to instances stand there twice."""
    found = [target for ident, children in outline.steps for target in _into(ident, children, step, child)]
    found += [target for target in found if target.child == CHILD_TEMPLATE]
    if child == CHILD_TEMPLATE or step == STEP_TEMPLATE:
        found.append(Goto(advance=True))
    return found


def _into(ident: str, children: tuple[str, ...], step: str, child: str | None) -> Iterator[Goto]:
    inside = ident == step
    if ident == STEP_TEMPLATE:
        yield Goto(ident)
        yield Goto(ident, advance=True)
    elif not (inside and child is None):  # a static step must not name itself
        yield Goto(ident)
    for name in children:
        if name == CHILD_TEMPLATE:
            yield Goto(ident, name)
            yield Goto(ident, name, advance=True)
        elif not (inside and name == child) and (inside or ident != STEP_TEMPLATE):
            yield Goto(ident, name)
