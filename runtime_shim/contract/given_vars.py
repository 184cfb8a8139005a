"""Placeholders of a specification (B3): `--var` gives a value as `--input` does; paths stay inside the project."""

import os

from runtime_shim.contract.contract import paths_of
from runtime_shim.engine.display import one_line
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import RefusedError, Table


class Placeholders(Extension):
    """Specifications with placeholders."""

    options = (("run", "--var", "NAME=VALUE...", "the same as --input"),)

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has any."""
        return "contract" in program and bool(program.get("inputs"))

    def prepare(self) -> None:
        """Take the values of both options as one list."""
        options = self.session.options
        options.input = [*options.input, *options.var]

    def open(self) -> None:
        """Refuse to begin a run whose placeholders make a path that leads out of the project (B3)."""
        session = self.session
        nodes = session.program["nodes"].values() if session.options.command == "run" else ()
        for node in nodes:
            for path in paths_of(session, node):
                if os.path.isabs(path) or os.pardir in path.split(os.sep):
                    where = f"{one_line(path)} of step {node['step']}"
                    raise RefusedError(
                        f"the path {where} is not inside the project: give its placeholders other values"
                    )
