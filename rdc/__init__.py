"""rdc: a compiler for workflow documents. The command line is `rdc.cli`; the compiler itself is `compiler`."""

__version__ = "0.1.0"
