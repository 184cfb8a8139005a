"""rdc: a compiler for workflow documents. `rdc.api` is for Python programs, and `rdc.cli` is the command line."""

import sys
from os.path import dirname

# `python -m rdc` searches the current folder for modules first. rdc must not import files from there.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and sys.path[0] != dirname(dirname(__file__)):  # noqa: PTH120 (pathlib might be a file there)
    del sys.path[0]

from compiler.version import __version__

__all__ = ["__version__"]
