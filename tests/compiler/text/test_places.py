"""Findings point at the right characters, also in lines that Markdown reads in ways of its own."""

from pathlib import Path

import pytest

from compiler.frontends.rundown.parse.lines import Header, LineError, parse_header
from compiler.text.durations import spoken
from compiler.text.files import LARGEST_FILE, read_source, source_of
from compiler.text.source import Source
from tests.support.documents import compiled, findings

LEAF = "## 1. Do\n\n```bash\ntrue\n```\n"


UNREADABLE = ("!!float", "!!int", '!!float ""', "1" * 2000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"\f\n  deep text\n---\n\n{LEAF}", "RD033 2:3"),
        (f"{LEAF}\n- \f\n  PASS: GOTO 7\n", "RD201 8:14"),
        (f"{LEAF}\n-\n    text\n", "RD112 7:1"),
        *((f"---\nname: x\nversion: {value}\n---\n\n{LEAF}", "RD010 3:1") for value in UNREADABLE),
    ],
    ids=["heading", "transition", "item", "float", "int", "empty", "long"],
)
def test_findings_are_at_their_places(text: str, expected: str, tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, text)) == [expected]


def test_titles_of_headers() -> None:
    for text in ("\u0661. Do", "\u0967 Do", "\uff11: Do"):
        assert isinstance(parse_header(text, "step"), LineError), "numbers have ASCII digits"
    assert parse_header("1. Do \t", "step") == parse_header("1. Do", "step")
    for header in (*(parse_header(text, "step") for text in ("1 .", "1..", "1: -")), parse_header("1.2 -", "substep")):
        assert isinstance(header, Header)
        assert header.title == "", "separators are none"


TIMES = {0: "0 s", 90: "90 s", 119: "119 s", 120: "2 min", 150: "2 min 30 s", 600: "10 min", 3600: "1 h"}
TIMES |= {5400: "1 h 30 min", 3601: "1 h 1 s", 86_400: "24 h"}


def test_times_are_said_as_people_say_them() -> None:
    assert {seconds: spoken(seconds) for seconds in TIMES} == TIMES


@pytest.mark.parametrize(
    "data", [b"", b"a\r\nb", "\ufeffé🚀\n".encode(), b"\xff", b"a\0b", b"a" * (LARGEST_FILE + 1), b"x\n" * 500_001]
)
def test_bytes_are_read_as_from_a_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.runbook.md"
    path.write_bytes(data)
    assert source_of(data, "shown.md", "name.md") == read_source(path, "shown.md", "name.md")


def test_a_source_has_its_bytes_again() -> None:
    data = "\ufeff# Té\r\n".encode()
    found = source_of(data, "a.md", "b.md")
    assert isinstance(found, Source)
    assert (found.path, found.name, found.data, found.has_mark) == ("a.md", "b.md", data, True)
