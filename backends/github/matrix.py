"""The job that is a matrix of the entries of a parallel step: each is a job of its own, with an artifact of its own.

It takes over the run as the next part does, and the next part takes over what the entries have kept, and joins it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from backends.github.continuation import entry_again, entry_kept, of_earlier
from backends.github.nodes import title
from backends.github.scalar import Expression, comment, label
from backends.github.settings import agent_types
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from compiler.ir.program import Node

_LONGEST_LABEL = 60
_INLINE = "inline"
_NOTHING: Mapping[str, object] = {"decisions": (), "joined": (), "waits": False}


def name(node: Node) -> Expression:
    """How the jobs are called. Neither the title nor a label opens an expression, and nothing else reads the label."""
    return Expression(f"{title(node)} ${{{{ matrix.entry }}}} (${{{{ matrix.agent }}}})")


def labels(node: Node) -> tuple[str, ...]:
    """The agent types of the entries, as people read them on the page of the run."""
    return tuple(label(comment(agent), _LONGEST_LABEL) or _INLINE for agent in agent_types(node))


class Taken(NamedTuple):
    """What a job takes over: of which part, with which digest of the runtime, and with what beside the state."""

    part: str
    digest: str
    beside: Sequence[str]


def steps(job: str, taken: Taken, set_up: Iterable[Step], entry: Step) -> Iterator[Step]:
    """The steps of the job after a part; `entry` is the one that does it."""
    yield of_earlier([taken.part])
    yield entry_again(job)
    script = render(
        "begin.sh.jinja", routed=True, summary=False, earlier=[taken.part], **_NOTHING, entry=True, **taken._asdict()
    )
    yield Step("Prepare", shell=PLAIN_SHELL, run=script)
    yield from set_up
    yield entry
    yield entry_kept(job, entry.id)
