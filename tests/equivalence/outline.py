"""Which steps a runbook has, and which jumps rule V10 allows from each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from hypothesis import strategies as st

from tests.equivalence.model import CHILD_TEMPLATE, STEP_TEMPLATE, Goto

# Names that a careless reader takes for something else: none of them is reserved.
STEP_NAMES = ("Recover", "Next", "N", "_x1", "PASSED", "retry", "run", "help", "done", "PATH", "rdc_node", "null", "s1")
CHILD_NAMES = ("Check", "n", "Recover", "Stop", "GOTO_1", "IFS", "if", "answers", "result", "on", "s1_1", "text")

# Strategies are checked when they are first drawn from: those made again for each draw would be checked each time.
integer = lru_cache(st.integers)
one_of = lru_cache(1024)(st.sampled_from)


@lru_cache
def some_of(items: tuple[str, ...], most: int, least: int = 0, *, unique: bool = True) -> st.SearchStrategy[list[str]]:
    """Lists of these."""
    return st.lists(one_of(items), min_size=least, max_size=most, unique=unique)


_flags = st.booleans()
_is_named = st.sampled_from([False, False, False, True])
_child_kinds = st.sampled_from(["none", "none", "static", "static", "template"])


def _names(draw: st.DrawFn, names: tuple[str, ...]) -> Iterator[str]:
    """All names, from any of them on."""
    first = draw(integer(0, len(names) - 1))
    return iter(names[first:] + names[:first])


@dataclass(frozen=True)
class Outline:
    """The identifiers of the steps in document order, each with those of its children."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]

    def has(self, step: str) -> bool:
        """Whether there is such a step."""
        return any(ident == step for ident, _ in self.steps)


def step_idents(draw: st.DrawFn, most: int) -> tuple[str, ...]:
    """V2, V3: numbered steps or one `{N}`, named ones among them; sometimes named ones only."""
    named = [draw(_is_named) for _ in range(draw(integer(1, most)))]
    dynamic = draw(_flags)
    names = _names(draw, STEP_NAMES)
    idents: list[str] = []
    numbers = 0
    for is_named in named:
        numbers += not is_named
        if is_named or (dynamic and numbers > 1):
            idents.append(next(names))
        else:
            idents.append(STEP_TEMPLATE if dynamic else str(numbers))
    return tuple(idents)


def child_idents(draw: st.DrawFn, most: int) -> tuple[str, ...]:
    """V4: no children, numbered and named ones in any order, or `{n}` alone."""
    kind = draw(_child_kinds)
    if kind == "none":
        return ()
    if kind == "template":
        return (CHILD_TEMPLATE,)
    names = _names(draw, CHILD_NAMES)
    idents: list[str] = []
    numbers = 0
    for _ in range(draw(integer(1, most))):
        is_named = draw(_is_named)
        numbers += not is_named
        idents.append(next(names) if is_named else str(numbers))
    return tuple(idents)


def outlines(draw: st.DrawFn, most: int) -> Outline:
    """Outlines of at most so many steps, with at most so many children each."""
    idents = step_idents(draw, most)
    return Outline(tuple((ident, child_idents(draw, most)) for ident in idents))


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
