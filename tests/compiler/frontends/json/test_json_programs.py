"""Programs as JSON: what rdc reads, what it refuses and where, and the written forms of every class of the model."""

import copy
import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields, replace

from backends.registry import load
from compiler.diagnostics.model import Issue
from compiler.driver import Compilation, compile_file
from compiler.driver import Settings as CompilerSettings
from compiler.frontends.json import parse
from compiler.frontends.json.lower import Reader
from compiler.ir.edges import Edge, Effect, Keep, Origin, Test, Written
from compiler.ir.program import Input, Node, Program, Settings, Slot, Variable
from compiler.ir.serialize import to_json
from compiler.ir.tasks import Branch, Task
from compiler.ir.texts import Text
from compiler.text.source import Span
from tests.compiler.ir.programs import of, programs, validator
from tests.conftest import ROOT
from tests.differential.generate.rundown import Drawn, cases
from tests.differential.generate.rundown import compiled as compiled_case
from tests.support.cli import call
from tests.support.documents import finding
from tests.support.program_json import from_json
from tests.support.text_form import to_text_form

BUILD = """\
{
  "entry": "build",
  "nodes": [
    {"id": "build", "task": {"kind": "shell", "command": "make"}, "edges": [
      {"guard": [{"kind": "outcome", "word": "pass"}], "target": "done"},
      {"target": "failed"}
    ]},
    {"id": "done", "task": {"kind": "end", "result": "complete"}},
    {"id": "failed", "task": {"kind": "end", "result": "stop"}}
  ]
}
"""


def compiled(folder: Path, text: str, name: str = "build.program.json", **given: Any) -> Compilation:
    (folder / "rdc.toml").touch()
    (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    return compile_file(str(folder / name), CompilerSettings(**given))


def found(folder: Path, old: str, new: str) -> list[tuple[str, str, str]]:
    """The findings in the program above with something else in it: place, message, help."""
    assert old in BUILD
    result = compiled(folder, BUILD.replace(old, new, 1))
    return [(finding(item), item.message, item.help) for item in result.diagnostics]


def test_what_is_not_said_comes_from_the_file(tmp_path: Path) -> None:
    made = compiled(tmp_path, BUILD)
    assert not made.diagnostics
    assert made.program
    assert (made.program.name, made.program.title) == ("build", "build")
    assert [source.path for source in made.program.sources] == ["build.program.json"]
    build = made.program.nodes[0]
    assert build.origin == Origin("build.program.json", Span(4, 12, 4, 19))
    assert build.edges[1].origins == (Origin("build.program.json", Span(6, 7, 6, 27)),)
    assert build.edges[1].written == (Written("to failed"),)


def test_it_is_recognized_by_name_by_content_and_by_option(tmp_path: Path) -> None:
    assert compiled(tmp_path, BUILD, "x.json").program
    assert compiled(tmp_path, BUILD, "x.txt", front_end="json").program
    assert [item.code for item in compiled(tmp_path, "{}", "package.json").diagnostics] == ["RD005"]
    assert [item.code for item in compiled(tmp_path, "{}").diagnostics] == ["RD064", "RD064"]


@pytest.mark.most(3)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_what_the_json_target_writes_is_the_same_program(case: Drawn, tmp_path_factory: pytest.TempPathFactory) -> None:
    program = compiled_case(case)
    assert read_back(program, tmp_path_factory.mktemp("json")) == program
    written = to_json(program)
    assert from_json(written) == program
    validator().validate(json.loads(written))


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/programs/*.json")), ids=lambda path: path.stem)
def test_examples_come_back_too(path: Path, tmp_path: Path) -> None:
    program = compile_file(str(path)).program
    assert program
    assert read_back(program, tmp_path) == program


def read_back(program: Program, folder: Path) -> Program:
    """What becomes of a program that is written down and read, with its own sources and name again."""
    text = load("json").emit(program, {}).text
    assert text
    result = compiled(folder, text)
    assert result.program, result.diagnostics
    assert result.program.sources[1:] == program.sources
    return replace(result.program, sources=program.sources, name=program.name)


def test_the_page_shows_a_program_that_can_be_pasted(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "formats" / "json.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```json[^\n]*\n(.+?)^```", page, re.DOTALL | re.MULTILINE)
    made = compiled(tmp_path, text, "letter.program.json")
    assert made.program
    assert not made.diagnostics
    traced = call("trace", "letter.program.json", "--outcomes", "review=AGAIN,GOOD", cwd=tmp_path)
    assert traced.out.endswith("=> COMPLETE Send it\n")


MAKE, TO_FAILED, ENTRY, FAILED = '"make"', '"target": "failed"', '"entry": "build"', '"id": "failed"'
REFUSED = [
    # syntax
    ('"failed"}\n', '"failed"},\n', "RD060 6:27", "there is a comma before the closing bracket", "remove it"),
    (MAKE, '"make', "RD060 4:67", "expected a comma between two values", "close each bracket"),
    ('"kind": "shell",', '"kind" "shell",', "RD060 4:37", "there is no colon", '"key": value'),
    ('  "entry"', '  // build\n  "entry"', "RD060 2:3", "JSON has no comments", "remove the comment"),
    (MAKE, "'make'", "RD060 4:58", "single quotes", "double quotes"),
    (MAKE, '"ma\\ke"', "RD060 4:61", "there is no such escape", "\\\\"),
    (MAKE, '"ma\tke"', "RD060 4:61", "control character", "\\t"),
    (MAKE, "nothing", "RD060 4:58", "expected a value", "write"),
    ("{\n", "{}\n{\n", "RD060 2:1", "more text after the end", "remove it"),
    # keys
    (MAKE, '"make", "command": "x"', "RD062 4:66", "duplicate key `command`", "remove one"),
    ('"command"', '"comand"', "RD063 4:47", "there is no key `comand` in a `shell`", "did you mean `command`?"),
    ('"entry"', '"nods": 1, "entry"', "RD063 2:3", "there is no key `nods` in a program", "did you mean `nodes`?"),
    (TO_FAILED, '"goto": "failed"', "RD063 6:8", "there is no key `goto` in an edge", "remove it, or use one of"),
    (TO_FAILED, "", "RD064 6:7", "an edge needs the key `target`", "add `target`"),
    ('"kind": "shell", ', "", "RD064 4:29", "`nodes[0].task` has no `kind`", 'add "kind": "shell"'),
    # values
    (MAKE, "3", "RD065 4:58", "`nodes[0].task.command` should be a string, or a list", "write"),
    (
        MAKE,
        '["make ", {"registr": "x"}]',
        "RD063 4:69",
        "there is no key `registr` in a reference",
        "did you mean `register`?",
    ),
    ('"shell"', '"shel"', "RD065 4:38", 'should be "shell" or', "did you mean `shell`?"),
    ('"stop"', "null", "RD065 9:56", 'should be "complete" or "stop", not null', "write"),
    (ENTRY, '"limit": true, "entry": "build"', "RD065 2:12", "should be a whole number", "write"),
    (ENTRY, '"limit": 3000000000, "entry": "build"', "RD065 2:12", "too large", "2,147,483,647"),
    (ENTRY, '"limit": 1e999, "entry": "build"', "RD065 2:12", "should be a whole number", "write"),
    (ENTRY, '"limit": {}, "entry": "build"', "RD065 2:12", "should be a whole number, not an object", "write"),
    (ENTRY, '"artifact": [1], "entry": "build"', "RD065 2:15", "`artifact` should be an object, not a list", "write"),
    (MAKE, '"\\u0000"', "RD065 4:58", "contains a NUL character", "remove it"),
    (MAKE, '"\\ud83d"', "RD065 4:58", "half of a surrogate pair (\\ud83d)", "remove it"),
    # names
    (FAILED, '"id": "done"', "RD066 9:12", "two nodes are named `done`", "rename one"),
    (FAILED, '"id": " "', "RD066 9:12", "is not a valid name", "printable characters"),
    (FAILED, '"id": "\u202ex"', "RD066 9:12", "is not a valid name", "printable characters"),
    (
        '"task"',
        '"variables": [{"name": "BASH_ENV", "register": "x"}], "task"',
        "RD066 4:44",
        "is reserved by the shell",
        "another",
    ),
    ('"entry"', '"inputs": [{"name": "a=b"}], "entry"', "RD066 2:23", "is not a valid variable name", "letters"),
    # rules
    (TO_FAILED, '"target": "fialed"', "RD067 6:18", "the unknown node fialed", "did you mean `failed`?"),
    (ENTRY, '"entry": "x"', "RD067 2:12", "the entry x is not a node", "set `entry` to the id"),
    ('{"target": "failed"}', "", "RD060 5:73", "a comma before", "remove"),
    (',\n      {"target": "failed"}', "", "RD067 4:5", "no edge to take for the outcome fail", "without a `guard`"),
    ('"pass"', '"good"', "RD067 4:5", "the task has no outcome good", "use one of `pass`, `fail`"),
    ('{"target"', '{"effects": [{"kind": "keep", "slot": "x"}], "target"', "RD067 6:7", "not declared", "declare it"),
    (ENTRY, '"inputs": [{"name": "x"}], "entry": "build"', "RD067 2:14", "the input x has no", "docs/"),
]


@pytest.mark.parametrize(("old", "new", "place", "message", "remedy"), REFUSED, ids=[case[1][:40] for case in REFUSED])
def test_an_error_is_at_its_place(tmp_path: Path, old: str, new: str, place: str, message: str, remedy: str) -> None:
    seen = found(tmp_path, old, new)
    assert any(one == place and message in output and remedy in advice for one, output, advice in seen), seen


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "RD060"),
        ("[]", "RD065"),
        ("3", "RD065"),
        ('{"entry": "1", "nodes": ' + "[" * 100_000, "RD061"),
        ('{"entry": "1", "nodes": ' + "[" * 50 + "]" * 50 + "}", "RD061"),
        ('{"entry": "1", "nodes": [' + "1," * 50_000 + "1]}", "RD065"),
        ('{"entry": "1", "nodes": [' + '{"id": "1"},' * 20_000 + "{}]}", "RD064"),
        ('{"entry": "1", "limit": ' + "9" * 100_000 + ', "nodes": []}', "RD065"),
        ('{"entry": "1", "' + "x" * 1_000_000 + '": 1, "nodes": []}', "RD063"),
        ("{" + '"a": 1, ' * 5_000 + '"nodes": [], "entry": "1"}', "RD062"),
    ],
    ids=range(10),
)
@pytest.mark.share(2)
def test_hostile_texts_are_refused_in_time(tmp_path: Path, text: str, code: str) -> None:
    begun, result = time.monotonic(), compiled(tmp_path, text)
    assert time.monotonic() - begun < 20
    assert result.program is None
    assert {item.code for item in result.diagnostics} >= {code}
    assert len(result.diagnostics) <= 100
    assert all(len(item.message) < 1000 for item in result.diagnostics)


def test_a_program_may_have_so_many_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse, "MOST_VALUES", 27)
    assert not compiled(tmp_path, BUILD).diagnostics
    monkeypatch.setattr(parse, "MOST_VALUES", 26)
    (refused,) = compiled(tmp_path, BUILD).diagnostics
    assert (refused.code, refused.message) == ("RD061", "the file has 27 values; the limit is 26")


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(start=st.integers(0, len(BUILD)), length=st.integers(0, 30), new=st.text('{}[]",:\\ \n\ra1\u2028\0', max_size=4))
def test_no_damage_brings_it_down(start: int, length: int, new: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    text = BUILD[:start] + new + BUILD[start + length :]
    result = compiled(tmp_path_factory.mktemp("damage"), text)
    assert (result.program is None) == any(item.severity == "error" for item in result.diagnostics)
    for item in result.diagnostics:
        assert item.span is None or item.span.line <= len(text.split("\n")) + text.count("\r")


ORIGIN = '"origin": {"path": "a.md", "span": {"line": 3, "column": 1, "end_line": 3, "end_column": 9}}, "task"'


def test_findings_stand_in_this_file_wherever_the_program_comes_from(tmp_path: Path) -> None:
    listed = '"sources": [{"path": "a.md", "sha256": "%s"}],\n  "entry"' % ("0" * 64)
    made = compiled(tmp_path, BUILD.replace('"entry"', listed, 1).replace('"task"', ORIGIN, 1)).program
    assert made
    assert [source.path for source in made.sources] == ["build.program.json", "a.md"]
    assert made.nodes[0].origin.path == "a.md"
    lost = f'{{"id": "lost", {ORIGIN}: {{"kind":"shell","command":"x"}}, "edges": [{{"target": "done"}}]}},\n'
    result = compiled(tmp_path, BUILD.replace('    {"id": "done"', f'    {lost}    {{"id": "done"', 1))
    (warning,) = result.diagnostics
    assert (finding(warning), Path(warning.path).name) == ("RD401 8:12", "build.program.json")
    too_long = BUILD.replace('"task"', ORIGIN, 1).replace('"make"', json.dumps("x" * 200_000))
    assert [item.code for item in compiled(tmp_path, too_long).diagnostics] == ["RD407"]


def test_formatting_leaves_a_program_alone_and_compiling_does_not_overwrite_it(tmp_path: Path) -> None:
    compiled(tmp_path, BUILD)
    assert [call("fmt", *words, "build.program.json", cwd=tmp_path).code for words in (("--check",), ())] == [0, 0]
    assert (tmp_path / "build.program.json").read_text(encoding="utf-8") == BUILD
    compiled(tmp_path, BUILD, "x.json")
    result = call("compile", "x.json", "--to", "json", cwd=tmp_path)
    assert (result.code, "RD510" in result.err) == (1, True)


def test_warnings_are_in_the_words_of_programs(tmp_path: Path) -> None:
    """Who writes JSON knows nodes and edges; a GOTO or a step is nothing that they could fix."""
    loop = BUILD.replace('"target": "done"', '"target": "build"', 1)
    loop = loop.replace('{"target": "failed"}', '{"target": "build"}, {"target": "done"}')
    alone = '{"id": "alone", "task": {"kind": "shell", "command": "x"}, "edges": [{"target": "done"}]}, {"id": "done"'
    found = compiled(tmp_path, loop.replace('{"id": "done"', alone)).diagnostics
    assert [finding(item) for item in found] == ["RD402 4:12", "RD403 4:12", "RD404 6:28", "RD401 8:12"]
    for item in found:
        assert not re.search(r"step|GOTO|COMPLETE|CONTINUE|transition|document", item.message + item.help)


HERE = Origin("x.json", Span(1, 1, 1, 2))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def read(value: object) -> tuple[Program | None, list[tuple[str, Issue]]]:
    """What the front end for JSON makes of a plain value, rules and names aside."""
    reader = Reader(lambda _: HERE)
    return reader.program(value, {"name": "x", "title": "x", "sources": []}), reader.issues


@pytest.mark.most(10)
@settings(max_examples=60, suppress_health_check=SLOW)
@given(program=programs)
def test_json_says_everything(program: Program) -> None:
    written = to_json(program)
    assert from_json(written) == program
    assert read(json.loads(written)) == (program, [])
    validator().validate(json.loads(written))


@st.composite
def changes(draw: st.DrawFn) -> tuple[Any, Any]:
    """A part of a program, and the same with one field changed."""
    kind = draw(st.sampled_from([*get_args(Task), *get_args(Test), *get_args(Effect), Settings, Input, Slot, Variable]))
    part = draw(of(kind))
    name = draw(st.sampled_from([item.name for item in fields(kind) if item.name != "kind"] or ["kind"]))
    return part, replace(part, **{name: draw(of(get_type_hints(kind)[name]))})


@settings(max_examples=300, suppress_health_check=SLOW)
@given(parts=changes())
def test_the_text_form_says_everything_but_what_was_written(parts: tuple[Any, Any]) -> None:
    one, other = (to_text_form(program_of(part)) for part in parts)
    assert one != other or said(parts[0]) == said(parts[1]), one


def program_of(part: Any) -> Program:
    """A program that has a part somewhere."""
    task = part if isinstance(part, get_args(Task)) else Branch()
    guard = (part,) if isinstance(part, get_args(Test)) else ()
    effects = (part,) if isinstance(part, get_args(Effect)) else ()
    variables = (part,) if isinstance(part, Variable) else ()
    node_settings = part if isinstance(part, Settings) else Settings()
    edge = Edge(guard, effects, "1")
    node = Node("1", Text(), HERE, task, (edge,), variables=variables, settings=node_settings)
    slots, inputs = (tuple([part] if isinstance(part, kind) else []) for kind in (Slot, Input))
    return Program("x", "X", (), "1", (node,), slots=slots, inputs=inputs)  # type: ignore[arg-type]


def said(part: Any) -> Any:
    """A part without what the text form leaves out: what authors wrote for references, and that a text is empty.

    It also leaves out the name of an answer that is kept, since the verifier refuses one.
    """
    if isinstance(part, Keep) and part.of == "answer":
        part = replace(part, name="")
    if isinstance(part, Text):
        return tuple(item if isinstance(item, str) else replace(item, written="") for item in part.parts) or None
    if isinstance(part, tuple):
        return tuple(map(said, part)) or None
    if not isinstance(part, Struct):
        return None if part == "" else part
    return (type(part), *(said(getattr(part, item.name)) for item in fields(part)))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """What leads to each value in a value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


@st.composite
def mutants(draw: st.DrawFn) -> Any:
    """A program as a plain value, of which something was replaced, renamed or removed."""
    value = copy.deepcopy(json.loads(to_json(draw(programs))))
    for _ in range(draw(st.integers(1, 2))):
        path, around = draw(st.sampled_from([path for path in places(value) if path])), value
        for part in path[:-1]:
            around = around[part]
        change = draw(st.sampled_from(["remove", "rename", "replace"]))
        if change == "replace":
            around[path[-1]] = draw(st.sampled_from([None, True, 1.5, 2, "x", "pass", [], {}, [1], {"a": 1}, 10**12]))
        elif change == "rename" and isinstance(around, dict):
            around["xyz"] = around.pop(path[-1])
        else:
            around.pop(path[-1])
    return value


@pytest.mark.most(10)
@settings(max_examples=200, suppress_health_check=SLOW)
@given(value=mutants())
def test_the_schema_and_the_front_end_refuse_the_same(value: Any) -> None:
    program, problems = read(value)
    assert validator().is_valid(value) == (not problems), problems
    assert (program is None) == bool(problems)
    with suppress(ValueError):
        itself = from_json(json.dumps(value))
        assert from_json(to_json(itself)) == itself, "what rdc itself reads follows the schema"


def test_a_text_that_is_no_program_is_refused() -> None:
    for text in ("{", "[]", "3", '{"entry": "1"}'):
        with pytest.raises(ValueError, match=r"."):
            from_json(text)
