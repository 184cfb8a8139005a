"""Replies that a person types or pastes at the terminal."""

import select
import sys
from typing import Callable

from runtime_shim.engine.display import forget_typed, typed
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import Session, Value
from runtime_shim.io.reading import unkept


def more_comes() -> bool:
    """Return whether there is more typed or pasted input to read."""
    return bool(select.select([sys.stdin], [], [], 0.1)[0])


def forget_pasted() -> None:
    """Discard the rest of a paste, so that it does not reach a command or the shell."""
    for _ in range(100):
        if not more_comes():
            break
        forget_typed()


def kept(reply: str) -> str:
    """Return a reply, or refuse one that a run cannot keep."""
    if problem := unkept(reply):
        raise UsageError(f"the reply {problem}")
    return reply


def asked(
    session: Session, prompt: str, read: Callable[[str], Value], goes_on: Callable[[str], bool] = lambda _line: False
) -> "Value | None":
    """Return the result of `read` for a typed string, or None if nothing was typed. Ask again if `read` refuses.

    The string ends with the first line for which `goes_on` is false, or with Ctrl-D.
    """
    while True:
        lines = [typed(session.display, session.signals, prompt)]
        while lines[-1].endswith("\n") and goes_on(lines[-1]):
            lines.append(typed(session.display, session.signals, ""))
        if not lines[-1].endswith("\n"):
            session.display.line()
        if lines == [""]:
            return None
        try:
            return read(kept("".join(lines).removesuffix("\n")))
        except UsageError as error:
            session.display.line(str(error))
