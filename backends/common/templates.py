"""Render the Jinja templates of targets, in `backends/TARGET/templates/`, and quote strings for a shell."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

Filter = Callable[..., str]


def render(template: str, filters: tuple[Filter, ...] = (), /, **values: object) -> str:
    """Return the text of a template such as `github/workflow.yml`; raises `jinja2.UndefinedError` for a missing value.

    The name has the target, and no `.jinja`. The template uses `filters` by the names of these functions.
    """
    target, _, name = template.partition("/")
    return _environment(target, filters).get_template(f"{name}.jinja").render(values)


@cache
def _environment(target: str, filters: tuple[Filter, ...]) -> Environment:
    """Return the environment of a target's templates. They write code of many languages, which nothing escapes."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / target / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (the output is no HTML)
        auto_reload=False,
    )
    found.filters |= {each.__name__: each for each in filters}
    return found


def quoted(text: str) -> str:
    """Return a string in single quotes, which every shell reads unchanged."""
    return "'" + text.replace("'", "'\\''") + "'"
