"""The options of targets in documents and configuration: what they are, where they stand, which of them override."""

from pathlib import Path

import pytest

from compiler.diagnostics.issues import OptionSource
from compiler.driver import Compilation, compile_file
from compiler.reading.toml import find_keys
from compiler.reading.yaml import load_value
from compiler.text.source import Source
from tests.support.documents import compiled, findings

STEP = "## 1. One\n"


def document(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", STEP])


def shown(place: OptionSource | None) -> str:
    assert place
    assert place.span
    return f"{place.code} {Path(place.path).name}:{place.span.line}:{place.span.column}-{place.span.end_column}"


def place(compilation: Compilation, *path: str) -> str:
    """The place of an option of the target `t`."""
    return shown(compilation.tables["t"].place(path))


def test_values_are_raw_and_their_names_are_what_is_written(tmp_path: Path) -> None:
    text = document("rdc:", "  t: {on: [a], 5: x, deep: {off: yes, 08: no}, empty: }", "  u: {}")
    compilation = compiled(tmp_path, text)
    assert findings(compilation) == []
    assert compilation.tables["t"].values == {"on": ["a"], "5": "x", "deep": {"off": True, "08": False}, "empty": None}
    assert compilation.tables["u"].values == {}
    assert load_value("{on: {yes: no}, 1: 2}") == {"on": {"yes": False}, "1": 2}
    assert load_value("") is None


def test_which_documents_have_tables(tmp_path: Path) -> None:
    assert compiled(tmp_path, STEP).tables == {}
    assert compiled(tmp_path, document("rdc: {transitions: after-body}")).tables == {}
    compilation = compiled(tmp_path, "---\nrdc: {t: {a: b}}\n---\n# Nothing\n")
    assert (findings(compilation), compilation.tables["t"].values) == (["RD101 1:1"], {"a": "b"})
    compiled(tmp_path, STEP, {"rdc.toml": "[t]\n", "notes.txt": "hello\n"})
    assert set(compile_file(str(tmp_path / "notes.txt")).tables) == {"t"}, "those of its project, without a format"


PLACES = """---
name: x
rdc:
  t:
    one: 1
    'two' : {a: b, c: [d, e]}
    three:
      - x: 1
        y: |
          text
      - 2
---
## 1. One
"""


def test_every_option_has_its_place(tmp_path: Path) -> None:
    compilation = compiled(tmp_path, PLACES)
    found = {
        path: place(compilation, *path.split()).partition("main.runbook.md:")[2]
        for path in ("", "one", "two", "two a", "two c 1", "three", "three 0", "three 0 y", "three 1")
    }
    assert found == {
        "": "4:3-4",
        "one": "5:5-11",
        "two": "6:5-30",
        "two a": "6:14-18",
        "two c 1": "6:27-28",
        "three": "7:5-10",
        "three 0": "8:9-13",
        "three 0 y": "9:9-10",
        "three 1": "11:9-10",
    }
    compilation = compiled(tmp_path, document("rdc:", "  t: {a: {b: c}}"))
    assert place(compilation, "a", "b", "x", "y") == place(compilation, "a", "b"), "the nearest one"
    assert place(compilation, "a", "x") == place(compilation, "a")
    assert place(compilation, "x") == place(compilation)
    compilation = compiled(tmp_path, document('name: "\u2028\u2028\x85\u2029\u2028"', "rdc: {t: {a: b}, x: 1}"))
    assert findings(compilation) == ["RD013 3:18"], "other ends of lines in YAML do not count"
    assert place(compilation, "a") == "RD013 main.runbook.md:3:11-15"
    compilation = compiled(tmp_path, document("mine: &mine {a: 1}", "rdc:", "  t: {<<: *mine, b: *mine}"))
    assert compilation.tables["t"].values == {"a": 1, "b": {"a": 1}}
    assert place(compilation, "a") == "RD013 main.runbook.md:2:14-18"
    assert place(compilation, "b", "a") == place(compilation, "b") == "RD013 main.runbook.md:4:18-19"


@pytest.mark.parametrize(
    "line", ["t: 5", "t: ", "t: [a]", "transition: x", "transitions: {a: b}", "5: x", "transitions: [after-body]"]
)
def test_what_is_no_option_and_no_table_is_an_error(tmp_path: Path, line: str) -> None:
    compilation = compiled(tmp_path, document("rdc:", f"  {line}"))
    assert (findings(compilation), compilation.tables) == (["RD013 3:3"], {})


def test_a_broken_option_in_the_configuration_has_its_line(tmp_path: Path) -> None:
    compilation = compiled(tmp_path, STEP, {"rdc.toml": '# c\ntransitions = "up"\nother = 1\n[t]\na = 1\n'})
    assert (findings(compilation), compilation.program) == (["RD501 2:1", "RD501 3:1"], None)


def test_the_document_outweighs_the_project_option_by_option(tmp_path: Path) -> None:
    text = document("rdc:", "  t: {a: {x: 1}, b: 2}", "  v: {}")
    compilation = compiled(tmp_path, text, {"rdc.toml": "[t]\na.y = 1\nc.d = 3\n[u]\ne = 4\n"})
    assert findings(compilation) == []
    assert {name: table.values for name, table in compilation.tables.items()} == {
        "t": {"a": {"x": 1}, "b": 2, "c": {"d": 3}},
        "u": {"e": 4},
        "v": {},
    }
    assert place(compilation, "a", "y") == place(compilation, "a") == "RD013 main.runbook.md:3:7-16"
    assert place(compilation, "c", "d") == "RD501 rdc.toml:3:1-8"
    assert place(compilation) == "RD013 main.runbook.md:3:3-23"
    assert shown(compilation.tables["u"].place(())) == "RD501 rdc.toml:4:1-4"


def test_the_help_for_an_unknown_key_suggests_or_lists_keys(tmp_path: Path) -> None:
    for written, meant in {"doc-url": "docs-url", "required_version": "required-version", "builds": "build"}.items():
        found = compiled(tmp_path, STEP, {"rdc.toml": f'{written} = "x"\n'}).diagnostics[0]
        assert found.message.endswith(f"there is no option `{written}`; did you mean `{meant}`?")
    found = compiled(tmp_path, STEP, {"rdc.toml": "other = 1\n"}).diagnostics[0]
    listed = "`required-version`, `build`, `check`, `docs-url`, `mcp`, `project`, `rule`; a target's options"
    assert listed in found.help
    (tmp_path / "rdc.toml").unlink()
    assert "docs-url" not in compiled(tmp_path, document("rdc: {other: 1}")).diagnostics[0].help


TOML = '''\
top = 1 # [no.header]
[ "a" . b ] # a header
c.'d e' = """
[f]
top = 1
g = 2
"""
list = [
  "h = 1",
  { i = 1 },
]
[[a.items]]
x = 1
[[a.items]]
x = 2
[j]
g = [1]
'''


def test_keys_of_toml_are_found_by_the_look_of_their_lines() -> None:
    found = {".".join(path): span.line for path, span in find_keys(Source.from_text("rdc.toml", TOML)).items()}
    assert found == {
        "top": 1,
        "a.b": 2,
        "a.b.c.d e": 3,
        "f": 4,  # what looks like a header in a text; nothing is there
        "f.top": 5,
        "f.g": 6,
        "f.list": 8,  # not found under its own header: the table around it is pointed at
        "a.items.0": 12,
        "a.items.0.x": 13,
        "a.items.1": 14,
        "a.items.1.x": 15,
        "j": 16,
        "j.g": 17,
    }
    twice = 'a = """\nb = 1\n"""\nb = 2\n'
    assert set(find_keys(Source.from_text("rdc.toml", twice))) == {("a",)}, "what is found twice is left out"
