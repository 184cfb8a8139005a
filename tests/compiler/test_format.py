"""Formatting: random runbooks and arbitrary texts keep their meaning, and what is formatted stays as it is."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.frontends import Formatted, Job
from compiler.frontends.rundown import format_document
from compiler.options import LAYOUTS, Layout, Options
from compiler.project import Project
from compiler.source import Source
from tests.compiler.test_any_text import _texts
from tests.equivalence.cases import Case
from tests.equivalence.strategies import cases


def formatted(text: str, layout: Layout | None = None) -> Formatted:
    source = Source.from_text("main.runbook.md", text)
    return format_document(Job(source, Project(Path("/")), Options(), layout, link=False))


def normal(text: str, layout: Layout | None = None) -> str:
    """The normal form of a document that has one."""
    result = formatted(text, layout)
    assert result.text is not None, result
    return result.text


def check(text: str, layout: Layout | None) -> None:
    """What must hold of any text: no defect, a document stays one, and a normal form is its own normal form."""
    result = formatted(text, layout)
    assert not result.defect, text
    assert (result.text is None) == bool(result.diagnostics)
    if result.text is not None:
        assert formatted(result.text, layout) == Formatted(result.text)


@settings(max_examples=150)
@given(cases(), st.sampled_from([None, *LAYOUTS]))
def test_a_random_runbook_has_a_normal_form(case: Case, layout: Layout | None) -> None:
    for text in case.documents().values():
        check(text.removeprefix("\ufeff"), layout)
        assert formatted(text.removeprefix("\ufeff"), layout).text is not None


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(_texts, st.sampled_from([None, *LAYOUTS]))
def test_any_text(text: str, layout: Layout | None) -> None:
    if "\0" not in text:
        check(text.encode(errors="ignore").decode(), layout)
