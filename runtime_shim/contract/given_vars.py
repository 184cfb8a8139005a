"""Placeholders of a specification (B3): `--var` gives a value as `--input` does; paths stay inside the project."""

import os
import types

from runtime_shim.contract.contract import paths_of
from runtime_shim.engine.command_line import CHECKS, OPTIONS
from runtime_shim.engine.display import one_line
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import OPENS, Session


def as_inputs(_program: Table, options: types.SimpleNamespace) -> None:
    """Take the values of both options as one list."""
    options.input = [*options.input, *options.var]


def refuse_outside(session: Session) -> None:
    """Refuse to begin a run whose placeholders make a path that leads out of the project (B3)."""
    nodes = session.program["nodes"].values() if session.options.command == "run" else ()
    for node in nodes:
        for path in paths_of(session, node):
            if os.path.isabs(path) or os.pardir in path.split(os.sep):
                where = f"{one_line(path)} of step {node['step']}"
                raise RefusedError(f"the path {where} is not inside the project: give its placeholders other values")


CHECKS.append(as_inputs)
OPENS.append(refuse_outside)
OPTIONS.append(("run", "--var", "NAME=VALUE...", "the same as --input"))
