"""Strings that a person types at the terminal: asked for until they fit (I8, I10, I11)."""

import select
import sys
from typing import Any, Callable

from runtime_shim.engine.display import forget_typed, typed
from runtime_shim.engine.program import RefusedError
from runtime_shim.engine.session import Session

MOST_PASTED = 100  # times that the rest of a paste is thrown away


def more_comes() -> bool:
    """Tell whether more was typed or pasted that no one has read."""
    return bool(select.select([sys.stdin], [], [], 0.1)[0])


def forget_pasted() -> None:
    """Throw away the rest of what was pasted: it must not reach a command or the shell."""
    for _ in range(MOST_PASTED):
        if not more_comes():
            break
        forget_typed()


def asked(
    session: Session,
    prompt: str,
    read: Callable[[str], Any],
    goes_on: Callable[[str], bool] = lambda _line: False,
) -> Any:  # noqa: ANN401 (whatever `read` returns)
    """Return what `read` makes of a string; asks again where it refuses, and returns None if nothing was typed.

    The string ends with the first line after which it does not go on, or with Ctrl-D.
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
            return read("".join(lines).removesuffix("\n"))
        except RefusedError as error:
            session.display.line(str(error))
