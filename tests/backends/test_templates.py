"""The functions that are made of the templates write what Jinja writes, and the translator refuses what it can't do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from jinja2 import Template

from backends.options.problems import OptionsError
from backends.registry import load
from tests.conftest import ROOT
from tests.golden.test_golden import CALLS, NAMES, PROGRAMS, carrying, given, program
from tests.templates import FILTERS, Templates, environment, function_name

SETTINGS: Mapping[str, list[Mapping[str, Any]]] = {
    "python": [{}, {"runtime": "shared"}, {"runtime": "script"}, {"runtime": "shared", "caller": "github"}],
    "make": [
        {},
        {"prefix": "x-", "driver": "shared"},
        {"form": "plain"},
        {"form": "plain", "prefix": "x-"},
        {"operator": "full", "prefix": "x-", "state-dir": "state"},
    ],
    "github": [
        {},
        {"summary": True, "env": {"X": 1}, "environment": "production"},
        {"prompts": "environment", "concurrency": {"group": "x", "queue": "single"}},
        {"executor": "program", "parallel": "matrix", "secrets": ["KEY"], **CALLS},
        {"runtime": "shared", "setup": [{"uses": "a/b@v1", "with": {"x": 1}}], **CALLS},
    ],
}


def templates(target: str) -> dict[str, Template]:
    """The templates of a target as Jinja has them."""
    found = environment(ROOT / "backends" / target / "templates")
    found.filters |= {name: getattr(import_module(module), name) for name, module in FILTERS[target].items()}
    return {name: found.get_template(name) for name in found.list_templates()}


def comparing(template: Template, function: Callable[..., str], seen: set[str | None]) -> Callable[..., str]:
    """A function of a template that writes with Jinja, too."""

    def compared(**values: Any) -> str:
        seen.add(template.name)
        text = function(**values)
        assert text == template.render(values)
        return text

    return compared


@pytest.mark.parametrize("target", SETTINGS)
def test_functions_write_what_jinja_writes(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend, rendering = load(target), import_module(f"backends.{target}.rendering")
    package = import_module(f"backends.{target}")
    modules = [import_module(found.name) for found in walk_packages(package.__path__, f"{package.__name__}.")]
    seen: set[str | None] = set()
    for name, template in templates(target).items():
        function = getattr(rendering, function_name(name))
        compared = comparing(template, function, seen)
        if not signature(function).parameters:
            compared()
        for module in (package, *modules):
            if getattr(module, function_name(name), None) is function:
                monkeypatch.setattr(module, function_name(name), compared)
    emitted: set[int] = set()
    for example in (*NAMES, *PROGRAMS):
        if target in carrying(example):
            for number, options in enumerate(SETTINGS[target]):
                with_given = {**given(example, target), **options}
                try:
                    backend.emit(program(example), with_given)
                except OptionsError:
                    continue  # a form that this example can't have
                emitted.add(number)
    assert seen == set(templates(target))
    assert len(emitted) == len(SETTINGS[target]), "no example takes some of the settings"


@pytest.fixture
def translated(tmp_path: Path) -> Callable[[str], list[str]]:
    """What the translator makes of a template with the filter `comment`."""

    def translate(text: str) -> list[str]:
        (tmp_path / "a.txt.jinja").write_text(text, encoding="utf-8")
        return "\n".join(Templates(tmp_path, ["comment"]).functions()).splitlines()[3:]

    return translate


def test_a_value_with_quotes_is_no_part_of_an_f_string(translated: Callable[[str], list[str]]) -> None:
    assert translated("""a {{ 'say "x"' if b }} c {{ d }}\n""") == [
        '    yield "a "',
        "    if b:",
        '        yield "say \\"x\\""',
        '    yield f" c {d}\\n"',
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ a ** b }}", "Pow is not supported"),
        ("\n{{ a | upper }}", "line 2: the filter `upper` is not supported"),
        ("{{ a is defined }}", "Test is not supported"),
        ("{% for a in b %}{% else %}c{% endfor %}", "For is not supported"),
        ("{% for a in b %}{{ loop.cycle('x', 'y') }}{% endfor %}", "loop.cycle is not supported"),
        ("{% for a in b if a %}{{ loop.index }}{% endfor %}", "`loop` where the loop has a condition is not supported"),
        ("{{ a }}{% for a in b %}{% endfor %}", "a second meaning of `a` is not supported"),
        ("{% for a in b %}{% set c = a %}{% endfor %}", "Assign is not supported"),
        ("{% for comment in b %}{% endfor %}", "a second meaning of `comment` is not supported"),
        ("{% macro m(a=1) %}{% endmacro %}", "a default value of a macro is not supported"),
        ("{% macro m(a) %}{{ b }}{% endmacro %}", "`b`, which the macro doesn't take, is not supported"),
        ("{{ a(*b) }}", "`*` or `**` in a call is not supported"),
        ("{% raw %}x{% endraw %}{% block x %}{% endblock %}", "Block is not supported"),
    ],
)
def test_what_is_not_supported_is_an_error(translated: Callable[[str], list[str]], text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"a\.txt\.jinja, line \d") as caught:
        translated(text)
    assert problem in str(caught.value)
