"""The version of rdc, which is part of everything that it generates."""

__version__ = "0.1.0"
