"""rdc: a compiler for workflow documents. The command line is `rdc.cli`; the compiler is `compiler`."""

import sys
from os.path import dirname

# `python -m rdc` puts the current folder first among the places of modules, and what stands there is not for rdc.
if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and sys.path[0] != dirname(dirname(__file__)):  # noqa: PTH120 (pathlib might be a file there)
    del sys.path[0]

from compiler.version import __version__

__all__ = ["__version__"]
