"""The operator's part of a program: loaded where it is asked for, since most calls need nothing of it."""

from typing import Callable

LATE: list[Callable[[], object]] = []  # what loads it, until that is done


def load() -> None:
    """Load the operator's part, if there is one and it is not there yet."""
    while LATE:
        LATE.pop()()
