"""The version of rdc, which stands in everything that it generates."""

__version__ = "0.1.0"
