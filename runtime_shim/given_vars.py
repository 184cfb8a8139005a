"""Placeholders of a specification (B3): `--var` gives a value as `--input` does."""

import types

from runtime_shim.cli import CHECKS, OPTIONS
from runtime_shim.program import Table


def as_inputs(_program: Table, options: types.SimpleNamespace) -> None:
    """Take the values of both options as one list."""
    options.input = [*options.input, *options.var]


CHECKS.append(as_inputs)
OPTIONS.append(("run", "--var", "NAME=VALUE...", "the same as --input"))
