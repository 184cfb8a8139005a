"""The Jinja2 templates of the target."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment

from backends.github.scalar import comment, folded, scalar
from backends.templating import environment


def render(template: str, **values: object) -> str:
    """A template filled in."""
    return _environment().get_template(template).render(values)


def _shell(template: str, indent: int = 10) -> str:
    """A shell template; those of rdc are plain scalars, others may need quotes, and a loader has several lines."""
    lines = getattr(template, "lines", ())
    if lines:
        return ">-\n" + "\n".join(f"{' ' * indent}{line}" for line in lines)
    return template if template.startswith("bash -c ") else scalar(template)


@cache
def _environment() -> Environment:
    return environment("backends.github", scalar=scalar, folded=folded, comment=comment, shell=_shell)
