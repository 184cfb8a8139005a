"""The templates of the targets: each one is used, and a value that is missing is an error."""

import re

import pytest
from jinja2 import StrictUndefined, TemplateNotFound, UndefinedError

from backends.common.templates import _environment, render
from tests.conftest import ROOT

TEMPLATES = sorted(path.relative_to(ROOT / "backends") for path in (ROOT / "backends").glob("*/templates/*.jinja"))


def test_every_template_is_used() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "backends").rglob("*.py"))
    rendered = set(re.findall(r'render\(\s*"([\w./]+)"', code))
    included = {
        f"{path.parts[0]}/{name}"
        for path in TEMPLATES
        for found in re.findall(r"{% include (.+) %}", (ROOT / "backends" / path).read_text(encoding="utf-8"))
        for name in re.findall(r'"([\w.]+)\.jinja"', found)
    }
    assert {f"{path.parts[0]}/{path.name.removesuffix('.jinja')}" for path in TEMPLATES} == rendered | included
    assert len(TEMPLATES) > 10


def test_one_environment_renders_them_all() -> None:
    """No other module has Jinja2, and none accepts a missing value."""
    folders = [ROOT / name for name in ("backends", "compiler", "rdc", "runtime_shim")]
    modules = {path: path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")}
    named = {path.relative_to(ROOT).as_posix() for path, text in modules.items() if re.search(r"\bjinja2\b", text)}
    assert named == {"backends/common/templates.py"}
    assert all(_environment(path.parts[0], ()).undefined is StrictUndefined for path in TEMPLATES)


def test_a_missing_value_or_template_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'name' is undefined"):
        render("github/approved.sh", count=1)
    with pytest.raises(TemplateNotFound):
        render("github/none.sh")
