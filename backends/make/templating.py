"""The templates of a Makefile."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from backends.make.texts import comment


def render(template: str, **values: object) -> str:
    """A template filled in."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("backends.make"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (the output is a Makefile; `block` and `comment` are what makes texts safe)
    )
    environment.filters["comment"] = comment
    return environment
