"""Where an operator's jump can lead (E6): every step, step and runbook of a document and of those that it includes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.equivalence.model import STEP_TEMPLATE, Files, Leaf, Runbook, Runbooks, Step, Substeps

Hop = tuple[str, str | None, int | None]
"""A step, a child of it or None, and the position of a runbook in its list, or None where the route ends."""

Route = tuple[Hop, ...]


@dataclass(frozen=True)
class Landing:
    """A step by its full name and by the way to it; `leads_to` is the leaf that a run then comes to.

    `inside` has the runbooks around it: the step of each list, and the runbook in it. With `is_runbook` the last of
    these is where the route ends.
    """

    label: str
    route: Route
    leads_to: str
    inside: tuple[tuple[str, str], ...] = ()
    is_runbook: bool = False

    @property
    def frame(self) -> str:
        """What the names of the steps of its runbook begin with."""
        around = self.inside[:-1] if self.is_runbook else self.inside
        return f"{around[-1][1]}/" if around else ""

    def is_plain_from(self, waiting: str) -> bool:
        """Whether the rules say what a jump does: no GOTO leads to another runbook of the same list."""
        for step, runbook in self.inside:
            if not waiting.startswith(f"{runbook}/"):
                return not waiting.startswith(f"{step}/")
        return not self.is_runbook


def first_step(runbook: Runbook) -> Step:
    """M1: the first numbered step, or `{N}`; with named steps only, the first of them (V3)."""
    for step in runbook.steps:
        if step.is_numbered or step.ident == STEP_TEMPLATE:
            return step
    return runbook.steps[0]


def inclusion(step: str, runbooks: Runbooks, position: int) -> str:
    """The name of a runbook of a list: one that stands there again is numbered."""
    path = runbooks.paths[position]
    before = runbooks.paths[:position].count(path)
    return f"{step}/{path}" + (f"~{before + 1}" if before else "")


@dataclass(frozen=True)
class Landings:
    """The landings in a runbook, and in those that it includes."""

    runbook: Runbook
    files: Files
    prefix: str = ""
    route: Route = ()
    inside: tuple[tuple[str, str], ...] = ()

    def __iter__(self) -> Iterator[Landing]:
        for step in self.runbook.steps:
            hop: tuple[str, str | None] = (step.ident, None)
            yield Landing(
                self.prefix + step.ident, (*self.route, (*hop, None)), self.first_leaf(step), inside=self.inside
            )
            if isinstance(step.body, Runbooks):
                yield from self.of_list(hop, step.body)
            for child in step.children:
                label, hop = f"{self.prefix}{step.ident}.{child.ident}", (step.ident, child.ident)
                leaf = self.leaf_of(label, child.body)
                yield Landing(label, (*self.route, (*hop, None)), leaf, inside=self.inside)
                if isinstance(child.body, Runbooks):
                    yield from self.of_list(hop, child.body)

    def of_list(self, hop: tuple[str, str | None], runbooks: Runbooks) -> Iterator[Landing]:
        """The runbooks of a step, and what is in them."""
        step = self.prefix + ".".join(part for part in hop if part is not None)
        for position, path in enumerate(runbooks.paths):
            label = inclusion(step, runbooks, position)
            route, inside = (*self.route, (*hop, position)), (*self.inside, (step, label))
            nested = Landings(self.files[path], self.files, f"{label}/", route, inside)
            yield Landing(label, route, nested.first_leaf(first_step(nested.runbook)), inside, is_runbook=True)
            yield from nested

    def first_leaf(self, step: Step) -> str:
        """The leaf that a run comes to by the header of a step."""
        label = self.prefix + step.ident
        if isinstance(step.body, Substeps):
            child = step.body.children[0]
            return self.leaf_of(f"{label}.{child.ident}", child.body)
        return self.leaf_of(label, step.body)

    def leaf_of(self, label: str, body: Leaf | Runbooks) -> str:
        """The leaf that a run comes to in a step without substeps."""
        if isinstance(body, Leaf):
            return label
        nested = self.files[body.paths[0]]
        return Landings(nested, self.files, f"{inclusion(label, body, 0)}/").first_leaf(first_step(nested))
