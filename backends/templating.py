"""The Jinja2 templates of a target: alike for all in how spaces, missing names and line ends are treated."""

from __future__ import annotations

from collections.abc import Callable

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(package: str, **filters: Callable[..., str]) -> Environment:
    """The templates of a package, whose filters are what makes texts of a document safe in the target's language."""
    found = Environment(
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (no output is HTML)
    )
    found.filters |= filters
    return found
