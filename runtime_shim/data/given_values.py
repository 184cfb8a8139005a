"""Outputs of a command that was not run: the operator gives them with the answer (E2)."""

import os
import re
import sys
from typing import Optional

from runtime_shim.data.kept import keeping
from runtime_shim.data.outputs import values_given
from runtime_shim.engine.command_line import OPTIONS
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import BEFORE, Done, Perform, Session, Waiting
from runtime_shim.tasks.values import check_value
from runtime_shim.tasks.waiting import GIVEN


def with_values(session: Session, done: Optional[Done]) -> Optional[Done]:
    """Return an answer with the outputs that were given beside it."""
    if not session.options.value:
        return done
    values = values_given(session, session.state.node)
    if done is None:
        raise RefusedError(f"--value: {session.state.node} is not answered as a whole")
    return done._replace(verbs=keeping("", values))


def ask_values(session: Session, name: str) -> Optional[Perform]:
    """Have the outputs of a command that is done by hand asked for, once its outcome was given at the terminal."""
    node = session.program["nodes"][name]
    named = [key for key in node.get("outputs", ()) if re.search(rf"\b{key}\b", node.get("block", ""))]
    if node["task"] != "ask" or not named:
        return None

    def perform(name: str, node: Table) -> Done:
        try:
            done = session.performers[name].perform(name, node)
        except Waiting as waiting:
            raise _with_hint(session, name, node, waiting) from None
        if done.how != "answered here":
            return done
        given = ((key, typed_value(session, key)) for key in named)
        return done._replace(verbs=keeping("", {key: value for key, value in given if value}))

    return perform


def _with_hint(session: Session, name: str, node: Table, waiting: Waiting) -> Waiting:
    """Return what a person is told who answers later, with how to give the outputs that the command writes."""
    written = [key for key in node["outputs"] if re.search(rf"(?<![\w-]){re.escape(key)}(=|<<)", node["block"])]
    if not written:
        return waiting
    values = [word for key in written for word in ("--value", f"{key}=…")]
    first, *others = waiting.args
    return Waiting(first, f"with outputs: {session.call('answer', name, 'pass', *values)}", *others)


def typed_value(session: Session, key: str) -> str:
    """Return the value that a person types; an empty line stands for none."""
    while True:
        session.display.line(f"{key} (empty: the command gave none): ", end="")
        with session.signals.listening():
            value = os.read(sys.stdin.fileno(), 65536).decode(errors="replace").rstrip("\r\n")
        try:
            check_value(key, value)
        except ValueError as error:
            session.display.line(str(error))
        else:
            return value


GIVEN.append(with_values)
BEFORE.append(ask_values)
OPTIONS.append(("answer", "--value", "NAME=VALUE...", "an output of the command that was done by hand"))
