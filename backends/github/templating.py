"""The Jinja2 templates of the target."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from backends.github.scalar import comment, folded, scalar


def render(template: str, **values: object) -> str:
    """A template filled in."""
    return _environment().get_template(template).render(values)


def _shell(template: str) -> str:
    """A shell template; those of rdc are plain scalars, others may need quotes."""
    return template if template.startswith("bash -c ") else scalar(template)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("backends.github"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (the output is YAML; `scalar` and `comment` are what makes texts safe)
    )
    environment.filters |= {"scalar": scalar, "folded": folded, "comment": comment, "shell": _shell}
    return environment
