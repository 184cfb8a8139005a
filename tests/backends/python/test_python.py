"""The python target: its runbook says exactly what the program says, and its runtime is no longer than it must be."""

import ast
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.base import Emission
from backends.python import PythonBackend, edition
from backends.python.calls import WORDS, calls
from backends.python.edition import modules, opening, runtime
from backends.python.program import checks
from backends.python.settings import prose
from compiler.ir.edges import Set
from compiler.ir.program import Constant, Counter, Jump, Program, Variable
from compiler.ir.tasks import Gate, Parallel, Task, Tool
from compiler.ir.texts import text
from compiler.passes import optimize
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.program import UsageError, built, unframed
from runtime_shim.operator.jumps import target_of
from tests.differential.generate.program import random_case
from tests.differential.generate.rundown import Drawn, cases, compiled
from tests.support.documents import program_at
from tests.support.jumps import compare
from tests.support.plain_table import table
from tests.support.program_json import from_json
from tests.support.runtime_programs import agent, node, program, sh

pytestmark = pytest.mark.process

SEPARATOR = "# " + "-" * 117
FEW = settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)


def emitted(made: Program, **options: object) -> Emission:
    emission = PythonBackend().emit(made, options)
    assert emission.text
    return emission


def same(made: Program) -> None:
    """See that the function that is written builds the very table."""
    made = optimize(made)
    wanted, called = table(made), calls(made)
    assert called.built() == wanted
    source = f"def runbook({', '.join(called.parameters)}):\n" + "\n".join(called.lines) + "\n"
    ast.parse(source, feature_version=(3, 9))
    found: dict[str, Any] = {}
    exec(source, found)
    rebuilt = built(found["runbook"], EDITIONS["agents"].kinds())
    assert rebuilt == wanted
    names = ([name for name, step in each["nodes"].items() if step["task"] != "end"] for each in (rebuilt, wanted))
    assert next(names) == next(names), "in this order"


@pytest.mark.share(3)
@FEW
@given(cases())
def test_the_calls_of_a_runbook_build_its_table(case: Drawn) -> None:
    same(compiled(case))


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", range(60))
def test_the_calls_of_a_program_build_its_table(seed: int) -> None:
    same(from_json(random_case(seed).text))


HOSTILE = (
    "", "\n", "\n\n", "a\n", "\na", "\\", "a\\\nb\\", '"', '""', '"""', "'''", '"""\n' + "'''", "\n\"\"\"\n'''\n",
    "\0", "a\0\nb", "\r\n", "a\rb\n", "\t\n\t", "\x0c\n", "\u202e\n", "\u2028", "\ud800\n", "{", "{0}\n{x}", "%s\n%",
    "$x\n`x`", "\\N{DASH}\n", "\\u0041\n\\x", "#\n", '")\nimport os\nos.abort()\nx = ("', 'r"""', "é\n🚀\n",
    "x" * 1_000_000, "x\n" * 100_000, "\ufeff\n", "\x1b[31m\nred",
)  # fmt: skip


def test_a_text_is_exactly_itself_and_nothing_in_it_is_hidden() -> None:
    for hostile in HOSTILE:
        source = prose(hostile)
        assert unframed(ast.literal_eval(source)) == hostile
        assert all(character.isprintable() or character in "\n\t" for character in source)


@given(st.text(alphabet="\"'\\\n\t{}ra \0\r\u202e", max_size=12))
def test_any_text_is_exactly_itself(drawn: str) -> None:
    assert unframed(ast.literal_eval(prose(drawn))) == drawn


def test_a_command_is_shown_as_it_was_written(tmp_path: Path) -> None:
    command = "printf '%s\\n' \"$x\" |\n  sed 's/\\\\/\"/'"
    assert f'bash=r"""\n{command}\n"""' in document(tmp_path, f"## 1. Do\n\n```bash\n{command}\n```\n")


@pytest.mark.parametrize("line", ["# BEGIN RUNTIME", "# END RUNTIME", "# BEGIN WORKER"])
def test_no_text_looks_like_the_lines_around_a_part(line: str, tmp_path: Path) -> None:
    text = document(tmp_path, f"{line}\n\n## 1. Do\n\n```bash\ncat <<E\n{line}\nE\n```\n")
    assert text.count(f"\n{line}\n") == (2 if "RUNTIME" in line else 0)


def test_a_title_does_not_choose_the_encoding(tmp_path: Path) -> None:
    source = document(tmp_path, "# coding: utf-7\n\n## 1. Do +AA0-\n\n```bash\ntrue\n```\n")
    (tmp_path / "program.py").write_text(source, encoding="utf-8")
    words = [sys.executable, "program.py", "steps"]
    assert "Do +AA0-" in subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout


def test_no_text_becomes_metadata_of_the_script(tmp_path: Path) -> None:
    block = "/// script\n# dependencies = ['evil']\n# ///"
    body = f"# /// script\n\n## 1. A\n\n```bash\ncat > a.py <<END\n# {block}\nEND\n```\n"
    assert "\n# /// " not in f"\n{document(tmp_path, body)}"


def document(folder: Path, body: str, **options: object) -> str:
    path = folder / "main.runbook.md"
    path.write_text(body, encoding="utf-8")
    return emitted(program_at(path), **options).text or ""


def test_prompts_of_entries_are_shown_as_they_were_written() -> None:
    prompts = ("one", "two\nlines", "\n", "\nframed\n", "\"\"\"\n'''", "a\\\nb\\", 'a\nb"')
    made = program(node("1", Parallel(tuple(map(agent, prompts)))))
    same(made)
    assert '"prompt": r"""two\nlines"""' in (emitted(made).text or "")


COMMANDS = "## 1. Do\n\n```bash\nfalse\n```\n\n- FAIL: RETRY 2 STOP\n\n## 2. More\n\n```bash\ntrue\n```\n"
EDITION_OF: dict[str, Task] = {"commands": sh("true"), "values": Gate("", text(""))}
EDITION_OF["agents"] = Tool("c", "t", text("{}"))
"""A task that needs an edition."""


@pytest.mark.parametrize("name", EDITION_OF)
def test_the_smallest_edition_with_what_a_program_needs_is_in_its_file(name: str) -> None:
    made = program(node("1", EDITION_OF[name]))
    assert has_edition(emitted(made).text or "", name)
    assert has_edition(emitted(made, operator="full").text or "", "agents")


def has_edition(text: str, name: str) -> bool:
    """Whether a program has the edition's imports above its document, and the modules below it."""
    above, _, below = text.partition(SEPARATOR)
    return f"\n{opening(name)}\n\ndef " in above and modules(name) in below


def test_the_same_bytes_are_in_every_file_of_an_edition(tmp_path: Path) -> None:
    first = document(tmp_path, COMMANDS).partition(SEPARATOR)[2]
    assert first == document(tmp_path, "## 1. Well?\n\nIs it?\n").partition(SEPARATOR)[2]


def test_only_the_command_above_the_runtime_tells_the_options(tmp_path: Path) -> None:
    basic, full = (document(tmp_path, COMMANDS, operator=word).partition(SEPARATOR)[0] for word in ("basic", "full"))
    for old, new in (
        (" -O operator=full --to", " --to"),
        (opening("agents"), opening("commands")),
        (checks("agents", ""), checks("commands", "")),
    ):
        full = full.replace(old, new)
    assert basic == full


JUMPS = (Jump("1", "1", (), (Set("n", 1),)),)


def test_secrets_constants_and_jumps_are_said_in_calls() -> None:
    made = program(
        node("1", sh("true"), constants=(Constant("MODE", "a\nb"),), variables=(Variable("N", "n"),)),
        secrets=("TOKEN",),
        counters=(Counter("n", "", 0),),
        jumps=JUMPS,
    )
    same(made)
    before = (emitted(made).text or "").partition(SEPARATOR)[0]
    assert 'secrets=["TOKEN"]' in before
    assert "jumps={" in before


def test_jumps_are_left_out_where_no_operator_can_jump() -> None:
    counted = node("1", sh("true"), variables=(Variable("N", "n"),))
    made = program(counted, counters=(Counter("n", "", 0),), jumps=JUMPS)
    assert "jumps={" not in (emitted(made, runtime="script").text or "jumps={")
    assert "jumps={" in (emitted(made).text or "")


@pytest.fixture
def shared(tmp_path: Path) -> tuple[Path, Path]:
    emission = emitted(program(node("1", sh("echo done"))), runtime="shared")
    (companion,) = emission.companions
    (tmp_path / "program.py").write_text(emission.text or "", encoding="utf-8")
    (tmp_path / companion.path).write_text(companion.text, encoding="utf-8")
    return tmp_path / "program.py", tmp_path / companion.path


def run(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(script), *words]
    return subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False)


def test_programs_share_a_runtime(shared: tuple[Path, Path]) -> None:
    script, companion = shared
    done = run(script, "run")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    other = emitted(program(node("1", sh("echo other"))), runtime="shared")
    whole = companion.read_text(encoding="utf-8")
    assert [(each.path, each.text) for each in other.companions] == [(companion.name, whole)]
    assert whole == runtime("commands")
    assert opening("commands") in whole
    assert whole.endswith(modules("commands"))
    script.write_text(other.text or "", encoding="utf-8")
    assert run(script, "run").stdout == "other\n"
    larger = emitted(program(node("1", agent("Hello"))), runtime="shared").companions
    assert [each.path for each in larger] != [companion.name]


def test_a_runtime_that_was_altered_is_not_run(shared: tuple[Path, Path]) -> None:
    script, runtime = shared
    whole = runtime.read_text(encoding="utf-8")
    for changed in (f"{whole}\nprint('run')\n", f"print('run')\n{whole}", "", None):
        runtime.unlink() if changed is None else runtime.write_text(changed, encoding="utf-8")
        refused = run(script, "run")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert str(runtime) in refused.stderr
        assert refused.stderr.count("\n") == 1
    silent = ["sh", "-c", 'exec "$0" "$1" run 2>&-', sys.executable, str(script)]
    assert subprocess.run(silent, stdout=subprocess.DEVNULL, check=False).returncode == 2, "1 would be a STOP"


def test_another_version_has_another_name(monkeypatch: pytest.MonkeyPatch, shared: tuple[Path, Path]) -> None:
    monkeypatch.setattr("backends.python.edition.__version__", "9.9.9")
    cached = (edition.runtime, edition.opening, edition.sha256_of_text)
    for each in cached:
        each.cache_clear()
    (companion,) = emitted(program(node("1", sh("true"))), runtime="shared").companions
    for each in cached:
        each.cache_clear()
    assert re.fullmatch(r"rdc_runtime_commands_[0-9a-f]{8}\.py", companion.path)
    assert companion.path != shared[1].name


def test_all_words_are_the_builders() -> None:
    from runtime_shim.engine.program import Builder  # noqa: PLC0415

    assert {word for word in WORDS if not hasattr(Builder, word)} == {"branch"}


@pytest.mark.share(4)
@settings(max_examples=80, suppress_health_check=list(HealthCheck), deadline=None)
@given(cases(), st.integers(0, 1000))
def test_jumps_lead_where_the_semantics_say(case: Drawn, seed: int) -> None:
    assert compare(compiled(case), random.Random(seed))


def test_what_is_no_step_is_refused() -> None:
    steps = {"1": {"task": "ask"}, "2/a.runbook.md/1": {"task": "shell"}, "STOP": {"task": "end"}}
    assert target_of({"nodes": steps}, "2")["go"] == "2/a.runbook.md/1"
    for name in ("", "STOP", "9", "2/", "1.1"):
        with pytest.raises(UsageError, match="there is no step"):
            target_of({"nodes": steps}, name)
