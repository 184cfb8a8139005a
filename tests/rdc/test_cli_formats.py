"""Diagnostics for machines and for people."""

import json
import unicodedata
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from compiler.diagnostics.model import CODES, Diagnostic, Related
from compiler.text.source import Source, Span
from rdc.report.report import FORMATS, Report, render
from rdc.terminal.cells import COLUMNS, cells, excerpt, visible

FOUND = [
    Diagnostic(
        "RD201", "a b/ü%.runbook.md", Span(3, 5, 3, 9), "no {N}", "say it", (Related("x", Span(1, 1, 2, 2), "y"),)
    ),
    Diagnostic("RD401", "a.runbook.md", Span(1, 2, 4, 1), "nothing", "go"),
    Diagnostic("RD001", "/tmp/gone.md", None, "gone", ""),
]

# What the official schema of SARIF 2.1.0 says of the objects that rdc writes; it too forbids others.
INTEGER = {"type": "integer", "minimum": 1}
INDEX = {"type": "integer", "minimum": -1}
TEXT = {"type": "string"}


def closed(required: list[str], **properties: object) -> dict[str, object]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def several(item: object, **more: object) -> dict[str, object]:
    return {"type": "array", "items": item, **more}


MESSAGE = closed(["text"], text=TEXT, markdown=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
ARTIFACT = closed([], uri={"type": "string", "pattern": r"^[A-Za-z0-9._~/%:-]+$"})
REGION = closed([], **dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), INTEGER))
PLACE = closed([], artifactLocation=ARTIFACT, region=REGION)
LOCATION = closed([], id=INDEX, physicalLocation=PLACE, message=MESSAGE)
STEPS = several(closed([], location=LOCATION), minItems=1)
FLOW = closed(["threadFlows"], threadFlows=several(closed(["locations"], locations=STEPS), minItems=1))
CONFIGURATION = closed([], level=LEVEL)
ABOUT = {"shortDescription": MESSAGE, "help": MESSAGE, "defaultConfiguration": CONFIGURATION}
RULE = closed(["id"], id=TEXT, name=TEXT, properties={"type": "object"}, **ABOUT)
DRIVER = closed(["name"], name=TEXT, version=TEXT, semanticVersion=TEXT, rules=several(RULE, uniqueItems=True))
PLACES = {"locations": several(LOCATION), "relatedLocations": several(LOCATION, uniqueItems=True)}
RESULT = closed(
    ["message"], ruleId=TEXT, ruleIndex=INDEX, level=LEVEL, message=MESSAGE, codeFlows=several(FLOW), **PLACES
)
COLUMNS_OF = {"enum": ["utf16CodeUnits", "unicodeCodePoints"]}
RUN = closed(["tool"], tool=closed(["driver"], driver=DRIVER), columnKind=COLUMNS_OF, results=several(RESULT))
SCHEMA = {"$schema": {"type": "string", "format": "uri"}}
SARIF = closed(["version", "runs"], version={"const": "2.1.0"}, runs=several(RUN), **SCHEMA)


def rendered(form: str, found: list[Diagnostic] = FOUND) -> str:
    return render(Report.of(found, {}), form)


def test_json() -> None:
    document = json.loads(rendered("json"))
    assert (document["version"], document["summary"]) == (1, {"errors": 2, "warnings": 1, "notes": 0, "files": 3})
    assert document["diagnostics"][0]["line"] is None
    kind = {"code": "RD201", "name": "unknown-target", "severity": "error", "rule": "V10"}
    place = {"path": "a b/ü%.runbook.md", "line": 3, "column": 5, "end_line": 3, "end_column": 9}
    related = {"path": "x", "line": 1, "column": 1, "end_line": 2, "end_column": 2, "message": "y"}
    texts = {"message": "no {N}", "help": "say it", "related": [related], "fix": None}
    assert document["diagnostics"][1] == {**kind, **place, **texts}


def test_sarif_is_as_its_schema_says_and_results_refer_to_their_rules() -> None:
    Draft7Validator(SARIF).validate(json.loads(rendered("sarif", [])))
    document: dict[str, Any] = json.loads(rendered("sarif"))
    Draft7Validator(SARIF).validate(document)
    run = document["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert rules[result["ruleIndex"]]["help"]["text"]
    assert run["columnKind"] == "unicodeCodePoints"
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    uris = [place["artifactLocation"]["uri"] for place in places]
    assert uris == ["file:///tmp/gone.md", "a%20b/%C3%BC%25.runbook.md", "a.runbook.md"]
    assert "region" not in places[0]
    assert places[1]["region"] == {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9}


def with_flow(places: int) -> list[Diagnostic]:
    flow = tuple(Related("a b.md", Span(line, 1, line, 5), f"step {line}") for line in range(1, places + 1))
    return [Diagnostic("RD401", "a.runbook.md", Span(1, 2, 4, 1), "nothing", "go", flow=flow)]


@pytest.mark.parametrize("places", [1, 3, 1000, 1001, 5000])
def test_sarif_has_the_path_to_a_finding(places: int) -> None:
    document = json.loads(rendered("sarif", with_flow(places)))
    Draft7Validator(SARIF).validate(document)
    (flow,) = document["runs"][0]["results"][0]["codeFlows"]
    steps = [step["location"] for step in flow["threadFlows"][0]["locations"]]
    assert len(steps) == min(places, 1000), "GitHub displays no more"
    assert [steps[0]["message"]["text"], steps[-1]["message"]["text"]] == ["step 1", f"step {places}"]
    assert steps[-1]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.md"},
        "region": {"startLine": places, "startColumn": 1, "endLine": places, "endColumn": 5},
    }


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
    keys = [pair.split("=", 1)[0] for pair in properties.split(",")]
    assert keys == ["file", "line", "endLine", "col", "endColumn", "title"]


@given(st.text(), st.sampled_from(sorted(CODES)))
def test_any_text_is_rendered_in_every_format(text: str, code: str) -> None:
    found = [Diagnostic(code, text, None, text, text)]
    for form in FORMATS:
        assert rendered(form, found)


PATH = "deploy.runbook.md"


def text_of(diagnostics: list[Diagnostic], text: str) -> str:
    return click.unstyle(render(Report.of(diagnostics, {PATH: Source.from_text(PATH, text)}), "text"))


def at(span: Span | None, *, code: str = "RD201", message: str = "m", advice: str = "h") -> Diagnostic:
    return Diagnostic(code, PATH, span, message, advice)


def test_the_whole_picture() -> None:
    document = "\n" * 11 + "- PASS: GOTO 10\n"
    message = "GOTO names step 10, which does not exist"
    diagnostic = at(Span(12, 9, 12, 16), message=message, advice="the steps are 1, 2 and Cleanup")
    assert text_of([diagnostic, diagnostic], document) == (
        "deploy.runbook.md:12:9: error[RD201]: GOTO names step 10, which does not exist\n"
        "   |\n"
        "12 | - PASS: GOTO 10\n"
        "   |         ^^^^^^^\n"
        "   = help: the steps are 1, 2 and Cleanup\n"
        "   = explain: rdc explain RD201\n"
        "\n"
        "1 error in 1 file"
    )


def test_related_places_are_notes_with_their_lines() -> None:
    related = (Related(PATH, Span(1, 4, 1, 5), "the first is here"),)
    diagnostic = Diagnostic("RD108", PATH, Span(10, 4, 10, 5), "two", "rename", related)
    assert text_of([diagnostic], "## 1\n" + "\n" * 8 + "## 1\n").partition("explain RD108\n")[2] == (
        "deploy.runbook.md:1:4: note: the first is here\n   |\n 1 | ## 1\n   |    ^\n\n1 error in 1 file"
    )


def test_odd_places_and_counts() -> None:
    assert text_of([at(None, code="RD001", advice="")], "") == (
        "deploy.runbook.md: error[RD001]: m\n  = explain: rdc explain RD001\n\n1 error in 1 file"
    )
    lines = text_of([at(Span(1, 3, 4, 2))], "a ```bash  \n\n\n```\n").split("\n")
    assert lines[2:4] == ["1 | a ```bash", "  |   ^^^^^^^ to line 4"]
    assert "9:1: error" in text_of([at(Span(9, 1, 9, 1))], "short\n"), "outside of the text"
    assert text_of([at(Span(1, 40, 1, 50))], "short\n").split("\n")[3] == "  |      ^"
    found = [at(Span(1, 1, 1, 2), code=code) for code in ("RD201", "RD202", "RD401", "RD405")]
    assert text_of(found, "x").endswith("\n2 errors, 1 warning, 1 note in 1 file")
    assert text_of([], "x") == ""


@pytest.mark.parametrize(
    ("line", "start", "shown", "offset"),
    [
        ("\tGOTO", 1, "    GOTO", 4),
        ("ab\tGOTO", 3, "ab  GOTO", 4),
        ("日本 GOTO", 3, "日本 GOTO", 5),
        ("🚀 GOTO", 2, "🚀 GOTO", 3),
        ("❤\ufe0f GOTO", 3, "❤\ufe0f GOTO", 3),
        ("👩\u200d👧 GOTO", 4, "👩\u200d👧 GOTO", 3),
        ("👍🏽 GOTO", 3, "👍🏽 GOTO", 3),
        ("🇨🇭 GOTO", 3, "🇨🇭 GOTO", 3),
        ("e\u0301 GOTO", 3, "e\u0301 GOTO", 2),
        ("\u1112\u1161\u11ab GOTO", 4, "\u1112\u1161\u11ab GOTO", 3),
        ("a\u200bb GOTO", 4, "a<U+200B>b GOTO", 11),
        ("\x1b[31m GOTO", 6, "␛[31m GOTO", 6),
        ("\u202eGOTO", 1, "<U+202E>GOTO", 8),
    ],
)
def test_the_mark_stands_under_its_place(line: str, start: int, shown: str, offset: int) -> None:
    made = excerpt(line, start, start + 4)
    assert (made.text, made.offset, made.width) == (shown, offset, 4)


def test_a_mark_is_as_wide_as_what_it_marks_and_a_long_line_is_shown_around_it() -> None:
    assert excerpt("x日本", 1, 3).width == 4
    assert excerpt("x", 1, 1) == excerpt("x", 1, 9)
    assert excerpt("e\u0301x", 1, 2).offset == 0
    line = "x" * 500 + "GOTO" + "y" * 500
    made = excerpt(line, 500, 504)
    assert (made.text[:4], made.text[-4:], len(made.text)) == ("…xxx", "yyy…", COLUMNS + 2)
    assert made.text[made.offset : made.offset + made.width] == "GOTO"
    assert excerpt(line, 0, 3).text == "x" * COLUMNS + "…"
    assert excerpt(line, 1003, 1004).text.endswith("y")
    assert len(excerpt("日" * 4_000_000, 2_000_000, 3_000_000).text) <= COLUMNS, "as long as a file, and no work"


@given(st.text(st.characters(exclude_characters="\n\r"), max_size=300), st.integers(0, 310), st.integers(0, 310))
def test_any_line_at_all(line: str, start: int, length: int) -> None:
    made = excerpt(line, start, start + length)
    assert made.width >= 1
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in made.text)
    width = sum(cell.width for cell in cells(made.text))
    assert width <= COLUMNS + 2
    assert made.offset <= width


def test_nothing_that_a_document_says_commands_the_terminal() -> None:
    hostile = "\x1b]0;title\x07\x9b31m\u202e"
    shown = text_of([at(Span(1, 1, 1, 3), message=hostile, advice=hostile + "\nnext")], hostile)
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)
    assert visible("a\tb\x00") == "a\tb␀"
