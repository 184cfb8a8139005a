"""The generated Makefile as those see it who run it: its texts, its verbs, its state, and what make is given."""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.tasks import Shell
from compiler.ir.texts import text
from tests.backends.makefiles import (
    FLOW,
    PATIENCE,
    PLAIN,
    SLOW,
    Place,
    emitted,
    environment,
    kill_all,
    last_line,
)
from tests.conftest import ROOT

pytestmark = pytest.mark.share(3)

EXAMPLES = sorted((ROOT / "examples").glob("*.runbook.md"))

# What makes of GNU make after 3.81 know, and since when.
NEWER = {
    r"\.ONESHELL": "3.82",
    r"\.RECIPEPREFIX": "3.82",
    r"^\s*(override\s+)?undefine\b": "3.82",
    r"\bprivate\s+\S+\s*[:+?]?=": "3.82",
    r"^\s*define\s+\S+\s*[:+?!]*=": "3.82",
    r"^[^\t$]*\s!=": "4.0",
    r"(?<!:)::=": "4.0",
    r"\$[({]file\s": "4.0",
    r"\$[({]guile\s": "4.0",
    r"^-?load\s": "4.0",
    r"^[^\t]*&:": "4.3",
    r"\.EXTRA_PREREQS|\.SHELLSTATUS": "4.2",
    r"\$[({]intcmp\s": "4.4",
    r"\$[({]let\s": "4.4",
    r"\.WAIT\b|\.NOTINTERMEDIATE": "4.4",
    r"\+:=|:::=": "4.4",
}


# --- The file ---------------------------------------------------------------------------------------------------------


@cache
def example_makefiles() -> dict[str, str]:
    """The Makefiles of the examples."""
    programs = {path.name: compile_file(str(path)).program for path in EXAMPLES}
    return {name: emitted(program) for name, program in programs.items() if program}


@pytest.mark.parametrize("name", [path.name for path in EXAMPLES])
def test_no_makefile_has_what_make_3_81_does_not_know(name: str) -> None:
    text = re.sub(
        r"^define (\S+)\n.*?^endef$", r"define \1\nendef", example_makefiles()[name], flags=re.DOTALL | re.MULTILINE
    )
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found = {feature: since for feature, since in NEWER.items() if re.search(feature, text, re.MULTILINE)}
    assert found == {}


# --- Texts ------------------------------------------------------------------------------------------------------------

PIECES = ["$", "$$", "$(shell touch canary)", "#", "\\\n", "\\", "\t", "\n", "\n\n", "\r", "\r\n", "@", "-", "#<", "#>"]
PIECES += ["\n#<\n", "\n#> command_u1_1\n", "#| ", "\n#: touch canary\n", "endef", "\nendef\n", "`touch canary`", "'"]
PIECES += ['"', "x" * 65536, "🚀", "\u2028", "\x85", "\x1a", "\ufeff", "%", ":", "\n\ttouch canary\n", "endif", "${N}"]
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(CHARACTERS, max_size=5)), max_size=10).map("".join)


@cache
def two_commands() -> Program:
    """A program of two commands."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "main.runbook.md"
        path.write_text(PLAIN, encoding="utf-8")
        program = compile_file(str(path)).program
    assert program
    return program


def with_commands(program: Program, command: str) -> Program:
    """The program with another command instead of each of its own, whatever Markdown can carry."""
    nodes = [
        replace(node, task=replace(node.task, command=text(command))) if isinstance(node.task, Shell) else node
        for node in program.nodes
    ]
    return replace(program, nodes=type(program.nodes)(nodes))


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(text=TEXTS)
@example(text="".join(PIECES))
@example(text="\\\n".join(PIECES))
def test_each_text_in_a_command_arrives_byte_for_byte(text: str) -> None:
    """In bash and in sh. The text is put into the program itself, as Markdown cannot carry all of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = f'printf %s {shlex.quote(text)} >> "$OUT"\n\nprintf "|" >> "$OUT"'
        (folder / "Makefile").write_bytes(emitted(with_commands(two_commands(), command)).encode())
        variables = environment({"OUT": str(folder / "out")})
        ran = subprocess.run(["make"], cwd=folder, env=variables, capture_output=True, check=False, timeout=PATIENCE)
        assert ran.returncode == 0, ran.stderr
        assert (folder / "out").read_bytes().decode() == f"{text}|{text}|"
        assert {path.name for path in folder.iterdir()} == {"Makefile", ".rdc", "out"}


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(text=TEXTS.filter(lambda text: "```" not in text and "\r" not in text and "\ufeff" not in text))
def test_each_text_of_a_document_arrives_as_it_was_written(text: str) -> None:
    """Without what Markdown cannot carry: a fence in the text; the front end makes CR a line end."""
    with tempfile.TemporaryDirectory() as name:
        command = f'printf %s {shlex.quote(text)} > "$OUT"'
        place = Place(Path(name), f"# Text\n\n## 1\n\n```bash\n{command}\n```\n\n- PASS: COMPLETE\n")
        ran = place.make(OUT="out")
        assert ran.returncode == 0, ran.stderr
        assert (place.folder / "out").read_bytes().decode() == text


HOSTILE = [
    "$(shell touch canary)",
    "${shell touch canary}",
    "$(info x)$(eval run: ; touch canary)",
    "$(touch canary)",
    "`touch canary`",
    ";touch canary",
    "'; touch canary; '",
    '"; touch canary; "',
    "a: ; touch canary",
    "# x",
    "#<",
    "endef",
    "trailing \\",
    "%s %d $@ $< $$ $1 {N}",
]


def quoted(message: str) -> str:
    """A message as it stands in a document."""
    escaped = message.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@pytest.mark.share(1)
@pytest.mark.parametrize("commands_only", [True, False], ids=["plain", "flow"])
def test_titles_prompts_and_messages_execute_nothing(commands_only: bool, tmp_path: Path) -> None:
    """Each hostile text is the title of a command, and of a question its title, its prompt and its messages."""
    count = len(HOSTILE)
    title = "trailing \\" if commands_only else " ".join(HOSTILE)
    document = f"# {title}\n\n" + "".join(
        f"## {number}. {hostile}\n\n```bash\n{'true' if number > 1 else 'echo ran >> log'}\n```\n\n"
        for number, hostile in enumerate(HOSTILE, 1)
    )
    for number, hostile in enumerate([] if commands_only else HOSTILE, count + 1):
        end = "CONTINUE" if number < 2 * count else f"COMPLETE {quoted(' '.join(HOSTILE))}"
        document += f"## {number}. {hostile}\n\n{hostile} it?\n\n- YES: {end}\n- NO: STOP {quoted(hostile)}\n\n"
    place = Place(tmp_path, document)
    (tmp_path / "answers").write_text("yes\n" * count, encoding="utf-8")
    before = (["-n"], ["help"], ["status"])
    for words in (*before, ["ANSWERS=answers"], ["status"], ["step-1"], ["resume"], ["-n", "resume"]):
        done = place.make(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        if words == ["ANSWERS=answers"] and not commands_only:
            assert last_line(done) == f"rdc: COMPLETE {' '.join(HOSTILE)}"
        for number, hostile in enumerate(HOSTILE, 1):
            assert words != ["ANSWERS=answers"] or f"{number} {hostile}" in done.stderr
            assert words != ["help"] or f" {number} {hostile}\n" in done.stdout
    assert place.lines("log") == ["ran", "ran"]
    assert not list(tmp_path.rglob("canary*"))


@pytest.mark.parametrize("text", ["a \\ \\", "a \\\\ \\ \\", "a \\", "a\u00a0\\\u00a0\\", "{} \\ \\".format("x" * 197)])
@pytest.mark.parametrize("end", ["", "- PASS: COMPLETE Done\n"], ids=["plain", "flow"])
def test_the_prompt_above_a_command_stays_a_comment(text: str, end: str, tmp_path: Path) -> None:
    """One that went on in the next line would make lines of make of the command."""
    canary = "canary := $(shell touch canary)"
    place = Place(tmp_path, f"# {text}\n\n## 1. {text}\n\n{text}\n\n```bash\n{canary}\n```\n\n{end}")
    for words in (["-n"], ["help"]):
        done = place.make(*words)
        assert done.returncode == 0, done.stderr
    assert canary in place.make("-n").stdout
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    "name", ["$(touch${IFS}canary)", "`touch${IFS}canary`", "a';touch${IFS}canary;'", 'a";touch${IFS}canary;"', "$@%*"]
)
def test_names_of_nested_runbooks_execute_nothing(name: str, tmp_path: Path) -> None:
    nested = "# Nested\n\n## 1. In\n\n```bash\necho in >> log\n```\n\n## 2. Ask\n\nIs it?\n"
    document = f"# Main\n\n## 1. Out\n\n- {name}.runbook.md\n\n- FAIL ANY: STOP\n"
    place = Place(tmp_path, document, {f"{name}.runbook.md": nested})
    (tmp_path / "answers").write_text("yes\n", encoding="utf-8")
    for words in (["-n"], ["help"], ["status"]):
        assert place.make(*words).returncode == 0
    assert last_line(place.make()) == f"rdc: WAITING 1/{name}.runbook.md/2"
    for words in (["status"], ["-n", "resume"], ["resume", "ANSWERS=answers"], ["status"]):
        assert place.make(*words).returncode == 0
    assert place.lines("log") == ["in"]
    assert not list(tmp_path.rglob("canary*"))


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_a_dry_run_of_make_executes_nothing_and_writes_nothing(document: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document)
    before = place.files
    for target in ("run", "resume", "status", "answer", "clean", "unlock", "help", "step-1", "step-2"):
        assert place.make("-n", target).returncode == 0
    assert place.make("-n").returncode == 0
    assert place.files == before
    assert not (tmp_path / ".rdc").exists()


# --- Verbs ------------------------------------------------------------------------------------------------------------


def test_make_is_refused_while_an_unfinished_run_is_there(flow: Place) -> None:
    assert last_line(flow.make()) == "rdc: WAITING 2"
    before = (flow.state / "journal").read_bytes()
    again = flow.make()
    assert again.returncode
    assert last_line(again).startswith("rdc: error: there is an unfinished run")
    assert (flow.state / "journal").read_bytes() == before
    assert flow.lines("log") == ["build"]


def test_resume_after_the_end_repeats_it_and_runs_nothing(flow: Place) -> None:
    (flow.folder / "answers").write_text("yes\nyes\n", encoding="utf-8")
    done = flow.make("ANSWERS=answers")
    assert (done.returncode, last_line(done)) == (0, "rdc: COMPLETE Out it goes")
    log = flow.lines("log")
    for _ in range(2):
        again = flow.make("resume")
        assert (again.returncode, last_line(again)) == (0, "rdc: COMPLETE Out it goes")
    assert flow.lines("log") == log


def test_resume_after_a_stop_repeats_it_and_fails(flow: Place) -> None:
    (flow.folder / "answers").write_text("no\n", encoding="utf-8")
    for words in (["ANSWERS=answers"], ["resume"]):
        done = flow.make(*words)
        assert done.returncode
        assert last_line(done) == "rdc: STOP It is bad"


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_clean_puts_the_journal_into_the_history(document: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document)
    assert place.make("clean").returncode == 0
    kept: list[bytes] = []
    for _ in range(3):
        place.make()
        kept.append((place.state / "journal").read_bytes())
        assert place.make("clean").returncode == 0
        assert not (place.state / "journal").exists()
        history = sorted((place.state / "history").iterdir(), key=lambda path: int(path.name))
        assert [(path / "journal").read_bytes() for path in history] == kept
    assert place.make("resume").returncode


def test_a_run_after_a_finished_one_puts_it_into_the_history(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    assert place.make().returncode == 0
    first = (place.state / "journal").read_bytes()
    assert place.make().returncode == 0
    assert (place.state / "history" / "1" / "journal").read_bytes() == first
    assert place.lines("log") == ["build", "ship"] * 2


def test_status_says_where_the_run_stands(flow: Place) -> None:
    assert flow.make("status").stdout == "no run\n"
    assert not (flow.folder / ".rdc").exists()
    flow.make()
    assert flow.stands() == "pass 1\nat 2\n"
    flow.make("answer", "STEP=2", "REPLY=no")
    flow.make("resume")
    assert flow.stands() == "pass 1\nno 2\nover: STOP\n"


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_help_has_a_line_for_each_step(document: str, tmp_path: Path) -> None:
    shown = Place(tmp_path, document).make("help")
    assert shown.returncode == 0
    for number, title in re.findall(r"^## (\d)\. (.*)$", document, re.MULTILINE):
        assert re.search(rf"^make step-{number} +{number} {title}$", shown.stdout, re.MULTILINE)


def test_an_answer_that_nothing_waits_for_is_refused(flow: Place) -> None:
    assert flow.make("answer", "STEP=2", "REPLY=yes").returncode
    flow.make()
    before = (flow.state / "journal").read_bytes()
    wrong = [["STEP=3", "REPLY=yes"], ["STEP=2", "REPLY=perhaps"], ["STEP=2"], ["REPLY=yes"], []]
    for words in wrong:
        refused = flow.make("answer", *words)
        assert refused.returncode
        assert last_line(refused).startswith("rdc: error: ")
        assert (flow.state / "journal").read_bytes() == before
    assert flow.make("answer", "STEP=2", "REPLY=yes").returncode == 0
    assert flow.make("answer", "STEP=2", "REPLY=yes").returncode
    assert last_line(flow.make("resume")) == "rdc: WAITING 3"
    assert flow.make("answer", "STEP=3", "REPLY=pass").returncode == 0
    assert flow.make("resume").returncode == 0
    assert flow.make("answer", "STEP=3", "REPLY=pass").returncode


def test_answers_of_a_file_are_used_once_and_those_for_the_step_first(flow: Place) -> None:
    answers = flow.folder / "a=b.txt"
    answers.write_text("# all of them\n\nno # for the other one\n  2 yes\n", encoding="utf-8")
    assert last_line(flow.make("ANSWERS=a=b.txt")) == "rdc: STOP"
    assert flow.stands() == "pass 1\nyes 2\nfail 3\nover: STOP\n"


def test_an_answer_is_not_used_again_after_resume(flow: Place) -> None:
    (flow.folder / "answers").write_text("yes\n", encoding="utf-8")
    for words in (["ANSWERS=answers"], ["resume", "ANSWERS=answers"]):
        assert last_line(flow.make(*words)) == "rdc: WAITING 3"


@pytest.mark.parametrize("text", ["perhaps\n", "2 perhaps\n"])
def test_a_broken_word_in_the_answers_is_refused(text: str, flow: Place) -> None:
    (flow.folder / "answers").write_text(text, encoding="utf-8")
    refused = flow.make("ANSWERS=answers")
    assert refused.returncode
    assert last_line(refused).startswith("rdc: error: ")
    assert flow.lines("log") == []
    (flow.folder / "answers").write_text("Yes\nYES\n", encoding="utf-8")
    assert last_line(flow.make("ANSWERS=answers")) == "rdc: COMPLETE Out it goes"


def test_a_file_of_answers_may_come_from_another_system(flow: Place) -> None:
    (flow.folder / "answers").write_bytes(b"\xef\xbb\xbfPASS\r\n\r\n3 no # so it is\r\n")
    assert last_line(flow.make("ANSWERS=answers")) == "rdc: STOP"
    assert flow.stands() == "pass 1\nyes 2\nfail 3\nover: STOP\n"


def test_answers_that_cannot_be_read_are_an_error(flow: Place) -> None:
    refused = flow.make("ANSWERS=missing")
    assert refused.returncode
    assert last_line(refused) == "rdc: error: cannot read the answers: missing"


@pytest.mark.parametrize(("first", "second"), [(FLOW, FLOW + "\n<!-- more -->\n"), (SLOW, SLOW + "\n<!-- more -->\n")])
def test_a_changed_makefile_refuses_the_state(
    first: str, second: str, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    place = Place(tmp_path, first)
    if first == FLOW:
        place.make()
    else:
        ended.append(place.start())
        kill_all(ended[0].pid)
        ended[0].wait()
    place.write(second, {})
    answer = [["answer", "STEP=2", "REPLY=yes"]] if first == FLOW else []
    for words in (["resume", "RERUN=1"], *answer, ["status"]):
        refused = place.make(*words)
        assert refused.returncode
        assert last_line(refused).startswith("rdc: error: this run was started with another version")
    assert place.lines("log") == ["build"]
    assert place.make("clean").returncode == 0


@pytest.mark.parametrize("code", [0, 1, 75])
def test_a_step_alone_ends_as_its_command_and_leaves_the_state_alone(code: int, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW.replace("echo build >> log", f"echo build >> log; exit {code}"))
    assert bool(place.make("step-1").returncode) == bool(code)
    assert not (tmp_path / ".rdc").exists()
    place.make()
    before = place.files
    assert place.make("step-4").returncode == 0
    after = place.files
    assert after.pop(str(tmp_path / "log")) != before.pop(str(tmp_path / "log"), b"")
    assert after == before


# --- The environment --------------------------------------------------------------------------------------------------

ENVIRONMENT = """\
# Environment

## 1. Fail twice

```bash
env | sort > "env.$RDC_ATTEMPT"; [ "$RDC_ATTEMPT" -ge 3 ]
```

- FAIL: RETRY 3

## 2. Ask

Good?

## 3. Again

```sh
env | sort > env.again
```
"""


def seen(place: Place, name: str) -> dict[str, str]:
    """The variables that a command has written down."""
    return dict(line.split("=", 1) for line in place.lines(name) if "=" in line)


def test_commands_see_the_run_and_the_attempt_and_nothing_of_make(tmp_path: Path) -> None:
    place = Place(tmp_path, ENVIRONMENT)
    (tmp_path / "answers").write_text("", encoding="utf-8")
    given = {"STEP": "kg", "RDC_STEP_INSTANCE": "7", "RDC_SUBSTEP_INSTANCE": "8", "RDC_ATTEMPT": "9"}
    assert last_line(place.make("-s", "ANSWERS=answers", **given)) == "rdc: WAITING 2"
    assert place.make("answer", "STEP=2", "REPLY=yes").returncode == 0
    assert place.make("resume", "RERUN=1", "ASSUME=pass", **given).returncode == 0
    found = [seen(place, name) for name in ("env.1", "env.2", "env.3", "env.again")]
    assert [one["RDC_ATTEMPT"] for one in found] == ["1", "2", "3", "1"]
    assert len({one["RDC_RUN_ID"] for one in found}) == 1
    assert [(one["RDC_STEP"], one["RDC_TITLE"]) for one in found] == [("1", "Fail twice")] * 3 + [("3", "Again")]
    own = {"RDC_ATTEMPT", "RDC_RUN_ID", "RDC_TITLE", "RDC_STEP"}
    shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    for one in found:
        assert one["STEP"] == "kg"
        assert set(one) - shell == (set(environment(given)) - shell - set(given)) | own | {"STEP"}


def test_a_variable_that_make_is_given_is_not_for_the_commands_even_if_it_was_in_the_environment(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path, ENVIRONMENT)
    (tmp_path / "answers").write_text("yes\n", encoding="utf-8")
    assert place.make("ANSWERS=answers", "STEP=2", ANSWERS="other").returncode == 0
    assert {"ANSWERS", "STEP"} & set(seen(place, "env.again")) == set()


def test_commands_of_instances_see_their_numbers(tmp_path: Path) -> None:
    check = 'echo "$RDC_STEP_INSTANCE ${RDC_SUBSTEP_INSTANCE-unset} {N}" >> log; [ "$RDC_STEP_INSTANCE" -lt 3 ]'
    document = f"# Pages\n\n## {{N}}. Page\n\n```bash\n{check}\n```\n\n- PASS: GOTO NEXT\n- FAIL: COMPLETE\n"
    place = Place(tmp_path, document)
    assert place.make().returncode == 0
    assert place.lines("log") == ["1 unset 1", "2 unset 2", "3 unset 3"]


# --- Limits and names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ANSWERS", "STEP", "other"])
def test_make_expands_nothing_that_it_is_given(name: str, tmp_path: Path) -> None:
    document = '# D\n\n## 1. A\n\n```sh\nprintf %s "${other-}" > got\n```\n\n## 2. B\n\nIs it so?\n'
    place = Place(tmp_path, document)
    for value in ("$(shell touch canary)", "${shell touch canary}$", "'; touch canary; '"):
        place.make(f"{name}={value}", "step-1")
        assert place.lines("got") == ([value] if name == "other" else [])
        place.make(f"{name}={value}", "status")
    assert not (tmp_path / "canary").exists()


def test_the_hint_for_an_answer_can_be_pasted(tmp_path: Path) -> None:
    """The name of a step may hold what the shell or make would expand."""
    name = "a';touch${IFS}canary;'$(x).runbook.md"
    place = Place(tmp_path, f"## 1. Ask\n\n- {name}\n", {name: "## 1. Fine?\n\nIs it?\n\n- YES: COMPLETE\n"})
    hint = next(line for line in place.make().stderr.splitlines() if "to answer" in line)
    pasted = hint.partition("to answer: ")[2]
    done = subprocess.run(["sh", "-c", pasted], cwd=tmp_path, env=environment({}), check=False, timeout=PATIENCE)
    assert done.returncode == 0
    assert place.make("resume").stdout.splitlines()[-1].startswith("rdc: COMPLETE")
    assert not (tmp_path / "canary").exists()


def test_a_makefile_that_make_cannot_name_is_an_error(tmp_path: Path) -> None:
    place = Place(tmp_path, "## 1. Do\n\n```bash\ntrue\n```\n")
    (tmp_path / "M k").write_bytes((tmp_path / "Makefile").read_bytes())
    done = place.make("-f", "M k", "status")
    assert done.returncode
