"""Where bytes enter rdc: for each entry what is done with them, and what must hold then.

An input has parts, which a line `%%%` separates.
"""

import json
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from backends.registry import BACKENDS, load
from compiler.driver import Compilation, Settings, compile_file
from compiler.frontends.rundown.declarations.frontmatter import scenario_keys
from compiler.frontends.rundown.lower.document import with_references
from compiler.frontends.rundown.parse import lines
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Verdict
from compiler.passes import optimize
from compiler.reading.yaml import UnreadableError, read_mapping
from compiler.scenarios.model import read_scenarios
from rdc.diff.report import Comparison, Version
from rdc.output.generate import emitted
from rdc.output.target_options import check_tables
from runtime_shim.engine.journal import encode, read_journal
from runtime_shim.engine.private import opened_folder
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import Store
from runtime_shim.io.answers import read_answers, read_text, take_answer
from tests.conformance.commonmark.oracle import LINES, differences
from tests.support.any_text import FRAGMENTS, check, check_findings
from tests.support.outputs import CHECKS, python_head

SEPARATOR = b"\n%%%\n"
STEPS = 40

# Options that an output depends on, for programs whose documents do not choose them.
OPTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("github", {"prompts": "environment"}),
    ("github", {"prompts": "agent", "agent": "ask", "summary": False}),
    ("github", {"checkout": False, "on": {"push": {"branches": ["main"]}}, "secrets": ["TOKEN"]}),
    ("dot", {"theme": "dark", "link-base": "https://example.com/"}),
    ("mermaid", {"link-base": "https://example.com/"}),
)


def parts(data: bytes, count: int) -> list[bytes]:
    found = data.split(SEPARATOR, count - 1)
    return found + [b""] * (count - len(found))


@contextmanager
def folder_with(**files: bytes) -> Iterator[Path]:
    """A folder to work in with these files, `_` for each dot in their names."""
    with tempfile.TemporaryDirectory() as name, chdir(name):
        for file, data in files.items():
            Path(file.replace("_", ".")).write_bytes(data)
        yield Path(name)


def compiled(path: str) -> Compilation:
    return compile_file(path, Settings("rundown"))


def document(data: bytes) -> None:
    """A document, one that it may include, and the configuration of their project, as far as the files of targets."""
    main, included, configuration = parts(data, 3)
    with folder_with(main_runbook_md=main, lint_runbook_md=included, rdc_toml=configuration):
        compilation = compiled("main.runbook.md")
    check(compilation, python_head)
    check_findings(check_tables(compilation.tables, compilation.program), compilation.sources)
    for name in BACKENDS:
        check_target(compilation, name, {})
    if compilation.program:
        check_target(replace(compilation, tables={}), *OPTIONS[zlib.crc32(data) % len(OPTIONS)])
        check_walk(compilation.program, data)


def check_target(compilation: Compilation, name: str, given: dict[str, object]) -> None:
    """What must hold of a target's output: there is one or a reason why not, always the same, and it is right."""
    backend = load(name)
    made = emitted(compilation, backend, given, backend.emit)
    check_findings(made.diagnostics, made.sources)
    assert made.products != (None,) or made.diagnostics
    assert made == emitted(compilation, backend, given, backend.emit)
    for product in made.products:
        if product and compilation.program:
            CHECKS[name](compilation.program, product.data.decode())


def check_walk(program: Program, data: bytes) -> None:
    """The passes keep the path, for outcomes that the input chooses."""
    machines = Machine(program), Machine(optimize(program))
    before, after = (machine.start() for machine in machines)
    for byte in zlib.crc32(data).to_bytes(4) * (STEPS // 4):
        assert before.node == after.node
        node = machines[0].nodes[before.node]
        if not node.edges:
            break
        assert machines[0].attempt(before) == machines[1].attempt(after)
        assert machines[0].text(before, node.title) == machines[1].text(after, node.title)
        outcome = Outcome(Verdict.PASS if byte & 1 else Verdict.FAIL)
        before, after = (m.advance(s, outcome).state for m, s in zip(machines, (before, after), strict=True))


def blocks(data: bytes) -> None:
    """A document, as far as its blocks: they are those that another parser of CommonMark finds."""
    assert differences(data.decode(errors="replace")) == []


def comparison(data: bytes) -> None:
    """Two documents, compared both ways, each with itself too."""
    first, second = parts(data, 2)
    with folder_with(first_runbook_md=first, second_runbook_md=second, rdc_toml=b""):
        compilations = [compiled("first.runbook.md"), compiled("second.runbook.md")]
    versions = [Version(one.path, one.program) for one in compilations if one.program]
    for old in versions:
        for new in versions:
            compared = Comparison(old, new)
            assert old is not new or not compared.found
            compared.text().encode()
            json.loads(compared.json())
            for name in ("dot", "mermaid"):
                backend: Any = load(name)
                CHECKS[name](new.program, backend.draw(compared.sheet(), backend.options.validated({})).text)


def journal(data: bytes) -> None:
    """A journal as it is, and one whose records have these texts and checksums that are right."""
    for content in (data, b"\n".join(b"%08x %s" % (zlib.crc32(line), line) for line in data.split(b"\n"))):
        with folder_with(journal=content) as folder, suppress(UsageError):
            path = folder / "journal"
            records, _ = read_journal(path)
            assert path.read_bytes() == content
            assert b"".join(map(encode, records)).count(b"\n") == len(records)
            store = Store(str(folder))
            store.read()
            store.within = opened_folder(store.directory)
            store.open()
            store.append({"kind": "process"})
            assert read_journal(path)[0][:-1] == records


def answers(data: bytes) -> None:
    steps = {"1": {"task": "ask"}, "{N}.{n}": {"task": "ask"}, "2": {"task": "shell"}}
    with folder_with(answers=data), suppress(UsageError):
        left = read_answers("answers", read_text("answers"), steps)
        while take_answer(left, "1"):
            pass


def frontmatter(data: bytes) -> None:
    """YAML as it stands at the top of a document, with scenarios in it."""
    with suppress(UnreadableError):
        reading = read_mapping(data.decode("utf-8", "ignore").replace("\0", ""))
        values, spans = reading.values, reading.spans
        assert all((name,) in spans for name in ("name", "tags", "rdc", "scenarios") if name in values)
        scenarios, issues = read_scenarios(values.get("scenarios", values), spans, scenario_keys("main.runbook.md"))
        assert all(issue.message.strip() for issue in issues)
        assert all(scenario.ends in ("COMPLETE", "STOP") for scenario in scenarios)


def line(data: bytes) -> None:
    """The texts of headers and transitions: the quick ways to read the usual ones agree with the grammar."""
    for text in data.decode("utf-8", "ignore").split("\n"):
        for kind in ("step", "substep"):
            assert _result(lines.parse_header, text, kind) == _result(lines._header, text, kind)
        assert _result(lines.parse_transition, text) == _result(lines._transition, text)
        for placeholder in ("{N}", "{n}"):
            found = with_references(text, {placeholder: "counter"})
            assert str(found) == text
            assert (found.filled({"counter": "\N{SNOWMAN}"}) != text) == any(found.references)


def _result(parse: Callable[..., object], *arguments: str) -> object:
    """What a line means, or where it is wrong; both are inside of it."""
    found = parse(*arguments)
    if isinstance(found, lines.LineError):
        assert 0 <= found.column <= len(arguments[0])
        assert arguments[0].startswith(found.word, found.column)
    return found


class Entry(NamedTuple):
    """An entry: what to do with an input, what to make inputs of, and its share of the time."""

    run: Callable[[bytes], None]
    fragments: tuple[str, ...]
    share: int = 1


_SEPARATED = (*FRAGMENTS, "%%%", "%%%\n# Other\n\n## 1. Do\n\n- PASS: STOP")
_OPTIONS = (
    *("[github]", "[[github.setup]]", "[dot]", "[mermaid]", "[make]", "[nothing]", 'transitions = "after-header"'),
    *('prompts = "environment"', 'agent = "ask"', 'on = "push"', "env = {A = 1}", 'secrets = ["A", "B"]'),
    *("summary = 0", 'run = "true"', 'uses = "a/b@c"', 'theme = "dark"', 'link-base = "x://y"', "timeout-minutes = 0"),
    *('"" = 1', "---\nrdc:\n  github:\n    prompts: agent\n---"),
    "---\nrdc: {github: {on: {push: {branches: [a]}}}}\n---",
)
_RECORDS = (
    '{"n":0,"kind":"begin","format":1,"node":"1","condition":"running","registers":{"r":1},"program":"p","name":"x",\
"source":"s","nodes":{"1":"d"},"steps":[["1","shell","A","d"]]}',
    '{"n":1,"kind":"done","condition":"ready","next":"2","changed":{"r":2}}',
    '{"n":2,"kind":"adopt","condition":"ready","program":"q","nodes":{},"registers":{},"name":"y",\
"source":"s","node":"3","steps":[],"renamed":{"1":"3"}}',
    *('{"n":1,"kind":"process","pid":3}', '{"n":0}', "[]", "0", "null", '{"n":true}', '{"n":1e999}', "[" * 2000),
)
_YAML = (
    *("scenarios:", "  good:", "    commands:", "      - rd run x", "    result: COMPLETE", "    description: a"),
    *("a: &a [1]", "b: *a", "<<: *a", "? [x]", ": y", "c: !!float x", "d: 2001-01-01", "e: |", "f: >-", "- x"),
    *("!!python/none x", "g: 0x_", "h: 1:2", "{a: b}", '"\\ud800": x', "~: ~", "? ", "k: .inf", "%YAML 9.9"),
    *("---", "..."),
)
_LINES = (
    *("1. Title", "{N}. Item", "1.2 Part", "{N}.{n} x", "Name.1", "PASS: CONTINUE", "FAIL ANY: RETRY 2 GOTO A.1"),
    *('YES: STOP "m\\"x"', "NO ALL: GOTO NEXT {N}", 'PASS: RETRY 3 "x"', "PASS: COMPLETE done", "FAIL: GOTO 1.{n}"),
    *('"', "\\", "—", "→", "1234567890", "${N}", "{N}{n}", "RETRY", "NEXT", "  ", "\t", "\x85", "\u0661"),
)

ENTRIES = {
    "document": Entry(document, (*_SEPARATED, *_OPTIONS), 10),
    "blocks": Entry(blocks, LINES, 8),
    "comparison": Entry(comparison, _SEPARATED, 4),
    "journal": Entry(journal, _RECORDS),
    "answers": Entry(answers, ("pass", "1 yes", "{N}.{n} fail", "2 no", "# x", "1 1 pass", "\ufeff", "\r")),
    "frontmatter": Entry(frontmatter, _YAML, 2),
    "line": Entry(line, _LINES, 2),
}
