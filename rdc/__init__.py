"""rdc: a compiler for workflow documents. The command line is `rdc.cli`; the compiler is `compiler`."""

from compiler.version import __version__

__all__ = ["__version__"]
