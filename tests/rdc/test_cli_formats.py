"""Diagnostics for machines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from compiler.diagnostics.model import CODES, Diagnostic, Related
from compiler.text.source import Span
from rdc.report.report import FORMATS, Report, render

FOUND = [
    Diagnostic(
        "RD201",
        "a b/ü%.runbook.md",
        Span(3, 5, 3, 9),
        "no {N}",
        "say it",
        (Related("x", Span(1, 1, 2, 2), "y"),),
    ),
    Diagnostic("RD401", "a.runbook.md", Span(1, 2, 4, 1), "nothing", "go"),
    Diagnostic("RD001", "/tmp/gone.md", None, "gone", ""),
]

# What the official schema of SARIF 2.1.0 says of the objects that rdc writes; it too forbids others.
INTEGER = {"type": "integer", "minimum": 1}
TEXT = {"type": "string"}


def closed(required: list[str], **properties: object) -> dict[str, object]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


MESSAGE = closed(["text"], text=TEXT, markdown=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
PLACE = closed(
    [],
    artifactLocation=closed([], uri={"type": "string", "pattern": r"^[A-Za-z0-9._~/%:-]+$"}),
    region=closed([], startLine=INTEGER, startColumn=INTEGER, endLine=INTEGER, endColumn=INTEGER),
)
LOCATION = closed([], id={"type": "integer", "minimum": -1}, physicalLocation=PLACE, message=MESSAGE)
RULE = closed(
    ["id"],
    id=TEXT,
    name=TEXT,
    shortDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=closed([], level=LEVEL),
    properties={"type": "object"},
)
DRIVER = closed(
    ["name"],
    name=TEXT,
    version=TEXT,
    semanticVersion=TEXT,
    rules={"type": "array", "items": RULE, "uniqueItems": True},
)
RESULT = closed(
    ["message"],
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": LOCATION},
    relatedLocations={"type": "array", "items": LOCATION, "uniqueItems": True},
)
RUN = closed(
    ["tool"],
    tool=closed(["driver"], driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
)
SARIF = closed(
    ["version", "runs"],
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"const": "2.1.0"},
    runs={"type": "array", "items": RUN},
)


def rendered(form: str, found: list[Diagnostic] = FOUND) -> str:
    return render(Report.of(found, {}), form)


def test_json() -> None:
    document = json.loads(rendered("json"))
    assert document["version"] == 1
    assert document["summary"] == {"errors": 2, "warnings": 1, "notes": 0, "files": 3}
    assert document["diagnostics"][0]["line"] is None
    assert document["diagnostics"][1] == {
        "code": "RD201",
        "name": "unknown-target",
        "severity": "error",
        "rule": "V10",
        "path": "a b/ü%.runbook.md",
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 9,
        "message": "no {N}",
        "help": "say it",
        "related": [{"path": "x", "line": 1, "column": 1, "end_line": 2, "end_column": 2, "message": "y"}],
        "fix": None,
    }


@pytest.mark.parametrize("found", [FOUND, []])
def test_sarif_is_as_its_schema_says(found: list[Diagnostic]) -> None:
    Draft7Validator(SARIF).validate(json.loads(rendered("sarif", found)))


def test_sarif_results_refer_to_their_rules() -> None:
    run: dict[str, Any] = json.loads(rendered("sarif"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert rules[result["ruleIndex"]]["help"]["text"]
    assert run["columnKind"] == "unicodeCodePoints"
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [place["artifactLocation"]["uri"] for place in places] == [
        "file:///tmp/gone.md",
        "a%20b/%C3%BC%25.runbook.md",
        "a.runbook.md",
    ]
    assert "region" not in places[0]
    assert places[1]["region"] == {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9}


def test_github() -> None:
    assert rendered("github").split("\n") == [
        "::error file=/tmp/gone.md,title=RD001::gone",
        "::error file=a b/ü%25.runbook.md,line=3,endLine=3,col=5,endColumn=9,title=RD201::no {N}%0Asay it",
        "::warning file=a.runbook.md,line=1,endLine=4,title=RD401::nothing%0Ago",
    ]


@given(st.text(), st.text(), st.text())
def test_a_document_cannot_give_github_a_command(path: str, message: str, advice: str) -> None:
    hostile = "a\r\n::add-mask::x%0A::stop-commands::y,title=z:"
    found = [Diagnostic("RD201", path + hostile, Span(1, 1, 1, 2), message + hostile, advice + hostile)]
    line = rendered("github", found)
    assert len(line.splitlines()) == 1
    assert line.startswith("::error file=")
    properties = line.removeprefix("::error ").split("::", 1)[0]
    assert [pair.split("=", 1)[0] for pair in properties.split(",")] == [
        "file", "line", "endLine", "col", "endColumn", "title",
    ]  # fmt: skip


@given(st.text(), st.sampled_from(sorted(CODES)))
def test_any_text_is_rendered_in_every_format(text: str, code: str) -> None:
    found = [Diagnostic(code, text, None, text, text)]
    for form in FORMATS:
        assert rendered(form, found)
