"""Findings point at the right characters, also in lines that Markdown reads in ways of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from compiler.frontends.rundown.parse.lines import Header, LineError, parse_header
from compiler.text.durations import spoken
from tests.support.documents import compiled, findings

LEAF = "## 1. Do\n\n```bash\ntrue\n```\n"


def test_a_heading_may_begin_below_a_form_feed(tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, f"\f\n  deep text\n---\n\n{LEAF}")) == ["RD033 2:3"]


def test_a_transition_may_begin_below_a_form_feed(tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, f"{LEAF}\n- \f\n  PASS: GOTO 7\n")) == ["RD201 8:14"]


def test_an_item_whose_text_begins_below_its_bullet_stands_at_the_bullet(tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, f"{LEAF}\n-\n    text\n")) == ["RD112 7:1"]


@pytest.mark.parametrize("text", ["\u0661. Do", "\u0967 Do", "\uff11: Do"])
def test_numbers_have_ascii_digits(text: str) -> None:
    assert isinstance(parse_header(text, "step"), LineError)


def test_a_title_ends_before_the_spaces_at_its_end() -> None:
    assert parse_header("1. Do \t", "step") == parse_header("1. Do", "step")


@pytest.mark.parametrize("value", ["!!float", "!!int", '!!float ""', "1" * 2000])
def test_values_that_cannot_be_read_are_told_at_their_line(value: str, tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, f"---\nname: x\nversion: {value}\n---\n\n{LEAF}")) == ["RD010 3:1"]


@pytest.mark.parametrize(("text", "kind"), [("1 .", "step"), ("1..", "step"), ("1: -", "step"), ("1.2 -", "substep")])
def test_separators_are_no_title(text: str, kind: Literal["step", "substep"]) -> None:
    header = parse_header(text, kind)
    assert isinstance(header, Header)
    assert header.title == ""


# --- Lengths of time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "output"),
    [
        (0, "0 s"),
        (90, "90 s"),
        (119, "119 s"),
        (120, "2 min"),
        (150, "2 min 30 s"),
        (600, "10 min"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (3601, "1 h 1 s"),
        (86_400, "24 h"),
    ],
)
def test_times_are_said_as_people_say_them(seconds: int, output: str) -> None:
    assert spoken(seconds) == output
