"""What is longer, deeper or more than rdc can take is refused with a diagnostic, before it takes time or memory."""

import time
from pathlib import Path

import pytest

from compiler.frontends.rundown.parse.lines import LineError, parse_transition
from compiler.reading.data import BrokenDataError, read_data
from compiler.reading.yaml import LONGEST_NUMBER, UnreadableError, load_value
from compiler.text import files
from compiler.text.files import LARGEST_VALUE
from compiler.text.source import Source
from tests.support.documents import compiled, findings

LEAF = "## 1. Do\n\n```bash\ntrue\n```\n"
BOMB = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30))])


@pytest.fixture(autouse=True)
def quick() -> object:
    """Each of these would take hours, or all memory, if it were not stopped."""
    before = time.process_time()
    yield
    assert time.process_time() - before < 10


@pytest.mark.parametrize("key", ["name", "tags", "scenarios", "rdc", "rdc:\n  transitions", "rdc:\n  github:\n    on"])
def test_aliases_of_aliases_are_counted(key: str, tmp_path: Path) -> None:
    compilation = compiled(tmp_path, f"---\n{BOMB}\n{key}: *a29\n---\n\n{LEAF}")
    assert findings(compilation) == ["RD010 2:1"]
    assert f"{LARGEST_VALUE:,}" in compilation.diagnostics[0].message


def test_an_alias_may_be_used_often() -> None:
    assert load_value("[&a [x, y], " + ", ".join(["*a"] * 1000) + "]") == [["x", "y"]] * 1001


@pytest.mark.parametrize("digits", ["9" * LONGEST_NUMBER, "0x" + "f" * LONGEST_NUMBER, "1" + ":59" * LONGEST_NUMBER])
def test_a_number_in_yaml_has_its_length(digits: str) -> None:
    assert isinstance(load_value(digits[:100]), int)
    with pytest.raises(UnreadableError):
        load_value(digits + digits[-3:])


MERGES = [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 20)]
LONG = "a/" * 500_000 + "b.runbook.md"
DOUBLES = {f"{n}.runbook.md": "## 1. Twice\n\n" + f"- {n + 1}.runbook.md\n" * 2 for n in range(60)}
TOO_LARGE: list[tuple[str, dict[str, str], list[str]]] = [
    ("\n".join(["---", "a0: &a0 {x: 1}", *MERGES, "---", "", LEAF]), {}, ["RD010 2:1"]),
    (f"## 1. A\n\n- {LONG}\n", {}, ["RD001 3:3"]),
    ("## 1. A\n\n- 0.runbook.md\n", DOUBLES | {"60.runbook.md": LEAF}, ["RD304 1:4"]),
    # values of a configuration
    (LEAF, {"rdc.toml": f"a = {'[' * 5000}{']' * 5000}"}, ["RD501"]),
    (LEAF, {"rdc.toml": f"a = {'{a=' * 5000}1{'}' * 5000}"}, ["RD501"]),
    (LEAF, {"rdc.toml": f"a = {'9' * 5000}"}, ["RD501"]),
    (LEAF, {"rdc.toml": f"transitions = 0x{'f' * 5000}"}, ["RD501"]),
    (LEAF, {"rdc.toml": "[[github.setup]]\nenv = {A = 18446744073709551616}"}, ["RD501"]),
    (LEAF, {"rdc.toml": "[github.env]\nA = 9223372036854775807\n"}, []),  # has 64 bits
]


@pytest.mark.parametrize(("text", "files", "expected"), TOO_LARGE, ids=range(len(TOO_LARGE)))
def test_values_that_are_too_large(tmp_path: Path, text: str, files: dict[str, str], expected: list[str]) -> None:
    assert findings(compiled(tmp_path, text, files)) == expected


@pytest.mark.parametrize(
    ("line", "extra", "found"), [("\n", 1, []), ("<!---->\n", 0, []), ("<!-- -->\n", 1, ["RD004"])]
)
def test_a_document_has_its_number_of_lines_that_are_not_blank(
    line: str, extra: int, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compiler.text.files.MOST_LINES", 1000)  # half a million take their time
    written = len([text for text in LEAF.splitlines() if text.strip()])
    assert findings(compiled(tmp_path, LEAF + "\n" + line * (1000 - written + extra))) == found


def test_a_document_may_have_8_mib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert files.LARGEST_FILE == 8 << 20
    monkeypatch.setattr(files, "LARGEST_FILE", 8 << 10)
    text = LEAF + "a" * ((8 << 10) - len(LEAF))
    assert "RD004" not in findings(compiled(tmp_path, text))
    assert findings(compiled(tmp_path, text + "a")) == ["RD004"]


@pytest.mark.parametrize("rest", ['"' + '\\"' * 200_000, '"' * 200_000, '"a" ' * 100_000])
def test_quotes_without_an_end_are_read_once(rest: str) -> None:
    assert isinstance(parse_transition(f"PASS: STOP {rest}"), LineError)


@pytest.mark.parametrize(
    "rest", ["*" * 100_000, " " * 100_000 + "x", "- " * 50_000, " " + "_" * 100_000, "*_ " * 30_000]
)
def test_a_line_that_is_almost_a_transition_is_read_once(rest: str, tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, f"## 1. A\n\n- PASS{rest}\n")) == []


@pytest.mark.parametrize(
    ("text", "problem", "column"),
    [
        ('a: {b: "\\0"}', "NUL", 5),
        ('a: {"\\0": 1}', "NUL", 5),
        ("a: [1, .inf]", "infinite", 8),
        ('{"a": {"\\ud800": []}}', "unpaired surrogate", 8),
        ('a: ["é\\ud800"]', "unpaired surrogate", 5),
        ("a: !!set {b}", "no such kind", 1),
        ("a: " + "[" * 32 + "1" + "]" * 32, "32 levels", 36),
    ],
)
def test_what_json_cannot_hold_is_refused_at_its_place(text: str, problem: str, column: int) -> None:
    with pytest.raises(BrokenDataError, match=problem) as caught:
        read_data(Source.from_text("a.stepspec", text))
    assert caught.value.span
    assert caught.value.span.column == column


def test_data_may_have_32_levels_and_any_text() -> None:
    text = "a: " + "[" * 31 + "é, 1.5, ~, true, \U0001f600" + "]" * 31
    assert read_data(Source.from_text("a.stepspec", text)).values
