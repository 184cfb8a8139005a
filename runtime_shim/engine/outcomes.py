"""The outcomes of steps, the caller of a program, and runs that wait for a decision."""

from collections.abc import Sequence
from typing import Callable, NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.walk import VERBS, Verbs


class Host(NamedTuple):
    """The caller of a program: its command, its edition with its hash, where state is."""

    prog: str = ""
    edition: str = ""
    home: str = ""  # the folder of the state directories' parent
    # Finds the run of a document that was moved.
    moved: Callable[[str, Callable[[], Table]], None] = lambda _directory, _identity: None


ANY_HOST = Host()


class Done(NamedTuple):
    """The outcome of a step."""

    outcome: str
    how: str
    note: "Record | None" = None
    verbs: Verbs = VERBS  # for the effects of its edge
    remarks: Sequence[str] = ()  # what is unexpected about its text, once its edge is taken


class AnsweredElsewhere(BaseException):
    """Not an error: another process answered the question that waits at this terminal."""


class Waiting(BaseException):
    """Not an error: the run needs a decision. The arguments are lines that say how to give it."""
