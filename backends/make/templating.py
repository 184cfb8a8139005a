"""The templates of a Makefile."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment

from backends.make.texts import comment
from backends.templating import environment


def render(template: str, **values: object) -> str:
    """A template filled in."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    return environment("backends.make", comment=comment)
