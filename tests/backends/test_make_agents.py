"""Makefiles of playbooks: agents by name, limits, mock runs, answers of people, and the same prompts as in Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backends.make import MakeBackend
from backends.make.refusals import refusals
from compiler.driver import compile_file
from compiler.ir.program import Program
from rdc.cli import main as rdc
from runtime_shim.tasks.recipes import RECIPES
from tests import warm
from tests.backends.makefiles import PATIENCE, environment, kill_all
from tests.backends.programs import Made
from tests.conftest import ROOT

PLAY = """\
# Two steps

## INPUTS

- `topic` (text): What

## STEP 1: First

Write about {{topic}}.

@output(first)

## STEP 2: Ask

@elicit(input, "Which {{first}}?")

## STEP 3: Then

```if first == "nothing"```

No.

```else```

Go on with {{first}} and {{__elicit_step_2}}.

```endif```

## ARTIFACTS

type: markdown
"""
SHORT = "# One\n\n## STEP 1: Only\n\nSay it.\n\n@output(it)\n\n## ARTIFACTS\n\ntype: json\n"
HOSTILE = "$(shell touch pwned) `touch pwned` $$HOME ${{ x }} {{topic}} 'q' \"d\" %s %% \\n \\\\ \t#\né\n\n  * end"
PLAYBOOKS = sorted((ROOT / "examples" / "playbooks").glob("*.playbook.md"))


def play(folder: Path, document: str) -> Made:
    """A folder with the Makefile of a playbook."""
    path = folder / "main.playbook.md"
    (folder / "rdc.toml").touch()
    path.write_text(document, encoding="utf-8")
    return Made(folder, compiled(path))


def compiled(path: Path) -> Program:
    """The program of a playbook."""
    found = compile_file(str(path))
    assert found.program, found.diagnostics
    return found.program


def kept(made: Made, folder: str) -> dict[str, bytes]:
    """The texts in a folder of the run, by their names."""
    (state,) = (made.folder / ".rdc").glob("*.make")
    return {path.name: path.read_bytes() for path in (state / folder).iterdir()}


# --- What is called, and how often ------------------------------------------------------------------------------------


def test_an_agent_is_called_by_name_with_its_model_and_a_name_beats_a_command(tmp_path: Path) -> None:
    made = play(tmp_path, SHORT)
    (tmp_path / "bin").mkdir()
    made.script("bin/llm", 'echo "$# $*"')
    given = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    assert made.end("AGENT=llm", "AGENT_MODEL=a 'b' $(x)", **given) == "rdc: COMPLETE"
    assert made.read(".rdc/main.make/main.json") == b"2 -m a 'b' $(x)"
    assert made.end(RDC_AGENT="llm", **given) == "rdc: COMPLETE"
    assert made.read(".rdc/main.make/main.json") == b"0"
    assert made.end("AGENT=./llm", "AGENT_MODEL=x", **given).startswith("rdc: error: a model needs an agent that is")


def test_the_makefile_has_all_names_of_agents(tmp_path: Path) -> None:
    play(tmp_path, SHORT)
    text = (tmp_path / "Makefile").read_text(encoding="utf-8")
    assert [recipe.command for recipe in RECIPES if recipe.command not in text] == []


def test_a_call_that_fails_is_made_again_and_all_is_kept(tmp_path: Path) -> None:
    made = play(tmp_path, SHORT)
    made.script("agent", 'echo "$RDC_ATTEMPT" >> attempts; echo "says $RDC_ATTEMPT"; [ "$RDC_ATTEMPT" = 2 ]')
    begun = time.monotonic()
    done = made.make("AGENT=./agent", "AGENT_RETRIES=3")
    assert done.stdout == b"rdc: COMPLETE\n"
    assert time.monotonic() - begun >= 2
    assert "1: exit code 1; trying again in 2.0 s" in done.stderr.decode()
    assert made.read("attempts").split() == [b"1", b"2"]
    assert kept(made, "answers") == {"1.1": b"says 1", "1.2": b"says 2"}
    assert list(kept(made, "prompts").values()) == [made.read(".rdc/main.make/prompts/1.1")] * 2
    assert made.end("AGENT=echo x >&2; exit 3") == "rdc: STOP"


def test_what_came_of_a_call_is_told_as_such_also_where_a_field_of_it_is_kept(tmp_path: Path) -> None:
    made = play(tmp_path, SHORT.replace("(it)", '(it, extract:"f")'))
    assert "    PASS  " in made.make("AGENT=echo '{\"f\": 1}'").stderr.decode()


def test_a_call_has_a_time_limit_and_an_answer_at_most_a_mebibyte(tmp_path: Path) -> None:
    made = play(tmp_path, SHORT)
    begun = time.monotonic()
    done = made.make("AGENT=sleep 30", "AGENT_TIMEOUT=1s")
    assert (done.stdout, time.monotonic() - begun < 15) == (b"rdc: STOP\n", True)
    assert b"out of time" in done.stderr
    done = made.make("AGENT=head -c 1048577 /dev/zero | tr '\\0' x")
    assert (done.stdout, b"more than 1,048,576 bytes" in done.stderr) == (b"rdc: STOP\n", True)


def test_a_budget_of_calls_holds_over_resumes(tmp_path: Path) -> None:
    made = play(tmp_path, PLAY)
    assert made.end("topic=x", "AGENT=echo a", "AGENT_CALLS=1") == "rdc: WAITING 2"
    made.make("answer", "STEP=2", "REPLY=b")
    spent = made.end("resume", "AGENT=echo a")
    assert spent.startswith("rdc: STOP 3/else: the budget of 1 calls of agents is spent; make ")
    assert made.end("resume", "AGENT=echo a") == spent
    assert made.end("resume", "AGENT=echo a", "AGENT_CALLS=2") == "rdc: COMPLETE"
    assert set(kept(made, "prompts")) == {"1.1", "2.1", "3%2Felse.1"}


def test_a_mock_run_answers_from_a_file_and_can_go_on_with_a_longer_one(tmp_path: Path) -> None:
    made = play(tmp_path, PLAY)
    (tmp_path / "m.yaml").write_text("agents:\n  1: [{fail: 'no net'}, said]\n", encoding="utf-8")
    assert made.end("topic=x", "MOCK=m.yaml", "AGENT_RETRIES=1") == "rdc: WAITING 2"
    made.make("answer", "STEP=2", "REPLY=b")
    assert made.end("resume", "MOCK=m.yaml") == "rdc: error: 3/else: m.yaml has no answer number 1 under agents: 3/else"
    (tmp_path / "m.yaml").write_text(json.dumps({"agents": {"3/else": ["the end"]}}), encoding="utf-8")
    assert made.end("resume", "MOCK=m.yaml") == "rdc: COMPLETE"
    assert made.read(".rdc/main.make/main.md") == b"the end"


def test_nothing_that_is_kept_has_a_secret(tmp_path: Path) -> None:
    made = play(tmp_path, f"---\nrdc: {{secrets: [TOKEN]}}\n---\n{SHORT}")
    script = 'cat > /dev/null; echo "<$TOKEN>"; [ "$RDC_ATTEMPT" = 2 ]'
    assert made.end(f"AGENT={script}", "AGENT_RETRIES=1", TOKEN="s3cret") == "rdc: COMPLETE"
    assert kept(made, "answers") == {"1.1": b"<***>", "1.2": b"<***>"}
    assert [path for path in made.state.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()] == []


# --- People in place of agents ----------------------------------------------------------------------------------------


def test_without_an_agent_people_answer_by_a_file_standard_input_or_in_advance(tmp_path: Path) -> None:
    made = play(tmp_path, PLAY)
    done = made.make("topic=x")
    assert done.stdout == b"rdc: WAITING 1\n"
    assert re.search(r"^    Write about x\.$", done.stderr.decode(), re.MULTILINE)
    assert "rdc: to answer: make answer STEP=1 FILE=FILE" in done.stderr.decode()
    assert made.end("resume") == "rdc: WAITING 1"
    (tmp_path / "my answer").write_text(f" {HOSTILE}\n\n", encoding="utf-8")
    assert made.end("answer", "STEP=1", "FILE=no such") == "rdc: error: the answer cannot be read: no such"
    assert made.end("answer", "STEP=1").startswith("rdc: error: REPLY is missing: make answer STEP=1 FILE=FILE")
    before = made.read(".rdc/main.make/journal")
    for empty in ("REPLY=", "REPLY= ", "FILE=space"):
        (tmp_path / "space").write_text(" \n\n", encoding="utf-8")
        assert made.end("answer", "STEP=1", empty) == "rdc: error: the answer of step 1 is empty"
    (tmp_path / "answers").write_text("1   \n", encoding="utf-8")
    assert made.end("resume", "ANSWERS=answers") == "rdc: error: ./answers:1: the answer of step 1 is empty"
    assert b" end " not in made.read(".rdc/main.make/journal").replace(before, b""), "no answer is recorded"
    assert made.make("answer", "STEP=1", "FILE=my answer").returncode == 0
    assert made.end("answer", "STEP=1", "FILE=my answer") == "rdc: error: no step waits for an answer"
    assert made.end("resume") == "rdc: WAITING 2"
    given = subprocess.run(["make", "answer", "STEP=2"], input=b"line\n\n  two %\n", cwd=tmp_path, check=True,
                           env=environment({}), capture_output=True)  # fmt: skip
    assert given.returncode == 0
    (tmp_path / "replies").write_text("a common one\n3/else<<E\n last #1 $(x)\nE\n", encoding="utf-8")
    assert made.end("resume", "ANSWERS=replies") == "rdc: COMPLETE"
    assert made.read(".rdc/main.make/main.md") == b"last #1 $(x)"
    assert kept(made, "answers") == {
        "1.1": HOSTILE.encode(),
        "2.1": b"line\n\n  two %",
        "3%2Felse.1": b"last #1 $(x)",
    }
    assert not (tmp_path / "pwned").exists()


# --- Kills and interruptions ------------------------------------------------------------------------------------------


def begun(made: Made, *given: str) -> subprocess.Popen[bytes]:
    """Start make, and wait until its agent is there."""
    process = subprocess.Popen(["make", *given], cwd=made.folder, env=environment({}), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not made.read("began"):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def test_a_run_that_is_killed_within_a_call_goes_on_with_that_call(tmp_path: Path) -> None:
    made = play(tmp_path, PLAY)
    made.script("agent", 'echo "$RDC_STEP" >> log; [ "$RDC_STEP" = 1 ] || { echo > began; sleep 30; }; echo one')
    (tmp_path / "replies").write_text("2 two\n")
    process = begun(made, "topic=x", "AGENT=./agent", "ANSWERS=replies")
    kill_all(process.pid)
    process.communicate()
    assert made.end("resume", "AGENT=./agent") == "rdc: WAITING 3/else"
    made.script("agent", 'echo "$RDC_STEP" >> log; echo three')
    assert made.end("resume", "AGENT=./agent", "RERUN=1") == "rdc: COMPLETE"
    assert made.read("log").split() == [b"1", b"3/else", b"3/else"]
    prompts = kept(made, "prompts")
    assert prompts["3%2Felse.1"] == prompts["3%2Felse.2"]
    assert prompts["3%2Felse.1"].endswith(b"Go on with one and two.")


def test_a_pause_between_attempts_ends_at_once_and_needs_no_decision(tmp_path: Path) -> None:
    made = play(tmp_path, SHORT)
    made.script("agent", "echo x >> log; echo > began; exit 1")
    process = begun(made, "AGENT=./agent", "AGENT_RETRIES=5")
    deadline = time.monotonic() + PATIENCE
    while b"rest" not in made.read(".rdc/main.make/calls/tally") and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert made.read("log") == b"x\n"
    assert made.end("resume", "AGENT=echo done") == "rdc: COMPLETE"


# --- The same prompts as in Python ------------------------------------------------------------------------------------

AGENT = """\
import os, sys
step, out = os.environ["RDC_STEP"], sys.argv[1]
with open(out, "ab") as log:
    said = step, os.environ["RDC_ATTEMPT"], os.environ["RDC_TITLE"], sys.stdin.buffer.read()
    log.write(repr(said).encode() + b"\\n")
sys.stdout.write({"1": '{"kind": "bug", "x": 1} '}.get(step, "") + HOSTILE + step)
"""
GIVEN = {
    "change-review": {"change": HOSTILE},
    "changelog-entry": {"commits": HOSTILE},
    "issue-triage": {"issue": HOSTILE},
    "metrics-report": {"metric": "$(shell touch pwned) \"'%\\ sign-ups"},
    "newsletter": {},
    "support-reply": {"ticket": HOSTILE, "category": "technical"},
}
TOOLS = {"change-review": ("library",), "metrics-report": ("metrics",)}
REPLIES = "1<<E\nThe $(shell touch pwned) 'new' \"release\" % \\n\n\n in May\nE\n2 cheerful\n3 yes\n"


@pytest.mark.share(2)
@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.name.partition(".")[0])
def test_examples_send_the_prompts_that_python_sends(path: Path, tmp_path: Path) -> None:
    name = path.name.partition(".")[0]
    shutil.copytree(path.parent, tmp_path / "books")
    (tmp_path / "rdc.toml").touch()
    book = tmp_path / "books" / path.name
    made = Made(tmp_path, compiled(book))
    assert rdc(["compile", str(book), "--to", "python", "-o", str(tmp_path / "play.py")]) == 0
    (tmp_path / "agent.py").write_text(AGENT.replace("HOSTILE", repr(HOSTILE)), encoding="utf-8")
    (tmp_path / "replies").write_text(REPLIES if name == "newsletter" else "")
    inputs = [f"{key}={value}" for key, value in GIVEN[name].items()]
    agent = f"{sys.executable} -I {tmp_path / 'agent.py'}"
    tools = {"metrics": f"tee -a tool.@LOG; echo '{HOSTILE.splitlines()[0].replace(chr(39), '')}'", "library": "cat"}
    tools = {key: value for key, value in tools.items() if key in TOOLS.get(name, ())}
    (tmp_path / "tools").write_text("".join(f"{key}={value.replace('@LOG', 'make')}\n" for key, value in tools.items()))
    done = made.make(*inputs, f"AGENT={agent} make.log", "TOOLS=tools", "ANSWERS=replies")
    assert done.stdout.endswith(b"rdc: COMPLETE\n"), done.stderr.decode()
    words = [word for pair in inputs for word in ("--input", pair)]
    words += [word for key, value in tools.items() for word in ("--tool", f"{key}={value.replace('@LOG', 'python')}")]
    given = ["--agent", f"{agent} python.log", "--answers", "replies"]
    ran = warm.run([sys.executable, "play.py", "run", *words, *given], cwd=tmp_path, env=environment({}))
    assert ran.returncode == 0, ran.stderr.decode()
    assert made.read("make.log") == made.read("python.log") != b""
    assert made.read("tool.make") == made.read("tool.python")
    (theirs,) = (folder for folder in (tmp_path / ".rdc").iterdir() if folder.is_dir() and folder.suffix != ".make")
    for folder in ("prompts", "answers"):
        for file in (theirs / folder).iterdir():
            assert kept(made, folder)[file.name] == file.read_bytes()
    for file in theirs.glob(f"{name}.*"):
        assert made.read(f".rdc/{name}.make/{file.name}") == file.read_bytes() != b""
    assert not (tmp_path / "pwned").exists()


def test_whoever_reads_a_makefile_sees_outputs_by_their_steps_and_what_is_called(tmp_path: Path) -> None:
    Made(tmp_path, compiled(ROOT / "examples" / "playbooks" / "newsletter.playbook.md"))
    text = (tmp_path / "Makefile").read_text(encoding="utf-8")
    assert (
        "# A prompt starts with the outputs of earlier steps that its `context` lists: see `context` in RDC_VALUES.\n"
        in text
    )
    assert "define ask_4\nWrite a newsletter about {{topics}}. It should" in text
    assert "context up-to-3\n  under '## Output of step 1: Topics (topics)' output-1\n" in text
    assert "  below up-to-3\n" in text
    assert 'define call_4\n{"timeout": 1800, "entries": [{"name": "4", "agent": ""}]}\nendef\n' in text
    assert "python_question" not in text.partition("# --- The targets")[0]


def test_an_operator_is_told_which_step_waits_and_where_the_file_is(tmp_path: Path) -> None:
    made = play(tmp_path, PLAY)
    assert made.end("AGENT=echo x", "topic=t") == "rdc: WAITING 2"
    assert made.end("answer", "REPLY=y") == "rdc: error: step '' does not wait for an answer, step '2' does"
    assert made.make("answer", "STEP=2", "REPLY=y").returncode == 0
    assert b"\n    .rdc/main.make/main.md\n" in made.make("resume", "AGENT=echo x").stderr


# --- What make makes of names -----------------------------------------------------------------------------------------


def test_an_input_has_no_name_that_the_makefile_itself_is_given(tmp_path: Path) -> None:
    """Only where agents or tools are called: elsewhere such names mean nothing."""
    (tmp_path / "rdc.toml").touch()
    for number, (name, step, is_refused) in enumerate(
        [("MOCK", "Say {{MOCK}}.", True), ("FILE", "Say it.", True), ("FILE", '@elicit(input, "{{FILE}}?")', False)]
    ):
        path = tmp_path / f"a{number}.playbook.md"
        path.write_text(f"# A\n\n## INPUTS\n\n- `{name}` (text): It\n\n## STEP 1: One\n\n{step}\n", encoding="utf-8")
        found = [item.code for item in refusals(compiled(path))]
        assert ("RD530" in found) == is_refused, (name, step, found)


def test_a_makefile_with_a_prefix_and_without_operator_takes_all_of_it(tmp_path: Path) -> None:
    play(tmp_path, PLAY)
    whole = compiled(tmp_path / "main.playbook.md")
    text = MakeBackend().emit(whole, {"prefix": "p-", "operator": "basic"}).text or ""
    (tmp_path / "p.mk").write_text(text, encoding="utf-8")
    (tmp_path / "Makefile").write_text("include p.mk\n", encoding="utf-8")

    def said(*words: str) -> str:
        done = subprocess.run(["make", "--no-print-directory", *words], cwd=tmp_path, env=environment({}), check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)  # fmt: skip
        return done.stdout.decode()

    assert said("p-run", f"topic={HOSTILE}") == "rdc: WAITING 1\n"
    (tmp_path / "reply").write_text(HOSTILE, encoding="utf-8")
    assert said("p-answer", "STEP=1", "FILE=reply") == ""
    assert said("p-resume") == "rdc: WAITING 2\n"
    assert said("p-answer", "STEP=2", "REPLY=x%") == ""
    assert said("p-resume", "AGENT=cat", "OUT=out.md") == "rdc: COMPLETE\n"
    assert (tmp_path / "out.md").read_bytes().endswith(f"Go on with {HOSTILE} and x%.".encode())
    assert not (tmp_path / "pwned").exists()


# --- Breakpoints, and what Makefiles do not take ----------------------------------------------------------------------

STEPS = """# Play

## STEP 1: One

A

## STEP 2: Two

```if nothing == ""```

### STEP 2a: First

B

### STEP 2b: Second

C

```endif```

## STEP 3: Three

D
"""


def test_a_run_waits_where_it_leaves_a_breakpoint_and_nowhere_twice(tmp_path: Path) -> None:
    made = play(tmp_path, STEPS)
    agent = 'AGENT=printf "%s\\n" "$RDC_STEP" >> log; echo x'
    done = made.make("BREAK=1 2", agent)
    assert (done.returncode, done.stdout) == (2, b"rdc: WAITING 2a\n")
    assert made.read("log") == b"1\n"
    assert made.end("answer", "STEP=2a", "REPLY=x") == "rdc: error: no step waits for an answer"
    assert made.end("resume", agent) == "rdc: WAITING 3"
    assert made.read("log") == b"1\n2a\n2b\n"
    assert made.end("resume", agent) == "rdc: COMPLETE"


def test_a_breakpoint_holds_in_steps_that_names_of_steps_do_not_say(tmp_path: Path) -> None:
    branches = (
        '```if nothing == ""```\n\n### STEP 1a: First\n\nB\n\n### STEP 1a: Second\n\nC\n\n### STEP 7c: Third\n\nD\n\n'
    )
    step = f"## STEP 1: One\n\nA\n\n{branches}```endif```\n\n"
    made = play(tmp_path, f"# Play\n\n{step}{step}## STEP 3: Three\n\nE\n")
    assert made.end("BREAK=1 1~2", "AGENT=echo x") == "rdc: WAITING 1~2"
    assert made.end("resume", "AGENT=echo x") == "rdc: WAITING 3"
    assert made.end("resume", "AGENT=echo x") == "rdc: COMPLETE"


def test_the_list_of_breakpoints_is_written_into_no_other_file(tmp_path: Path) -> None:
    made = play(tmp_path, STEPS)
    assert made.end("BREAK=1", "AGENT=echo x") == "rdc: WAITING 2a"
    other, breaks = tmp_path / "other", made.state / "calls" / "breaks"
    other.write_text("mine\n")
    breaks.unlink()
    breaks.symlink_to(other)
    assert f"{breaks.name} is a link" in made.end("resume", "BREAK=2", "AGENT=echo x")
    assert other.read_text() == "mine\n"
    breaks.unlink()  # the remedy
    assert made.end("resume", "BREAK=2", "AGENT=echo x") == "rdc: WAITING 3"


def test_links_in_place_of_kept_folders_lead_to_nothing_that_is_written_or_removed(tmp_path: Path) -> None:
    made = play(tmp_path, STEPS)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "file").touch()
    entries = made.state / "entries"
    assert made.end("BREAK=1", f"AGENT=rm -r '{entries}'; ln -s '{mine}' '{entries}'; echo x") == "rdc: WAITING 2a"
    assert made.end("resume", "AGENT=echo x").startswith(f"rdc: error: .rdc/{made.state.name}/entries is a link: ")
    entries.unlink()
    assert made.end("resume", f"AGENT=rm -rf '{entries}'; ln -s '{mine}' '{entries}'; echo x") == "rdc: COMPLETE"
    assert [path.name for path in mine.iterdir()] == ["file"]


def test_what_is_to_be_given_again_is_said_in_names_alone(tmp_path: Path) -> None:
    made = play(tmp_path, STEPS)
    assert made.end("TOOLS=/dev/null") == "rdc: WAITING 1"
    (made.state / "calls" / "given").write_text("TOOLS\033[31m\nrdc: COMPLETE")
    answered = made.make("answer", "STEP=1", "REPLY=x")
    assert answered.stderr.endswith(b"rdc: to go on:  make resume   (with TOOLS COMPLETE, as before)\n")


def test_a_breakpoint_holds_after_a_kill_and_is_passed_by_an_answer(tmp_path: Path) -> None:
    made = play(tmp_path, STEPS)
    assert made.end("BREAK=1") == "rdc: WAITING 1"
    answered = made.make("answer", "STEP=1", "REPLY=x")
    assert answered.stderr.endswith(b"\nrdc: to go on:  make resume\n")
    assert made.end("resume", "BREAK=2a", "TOOLS=/dev/null") == "rdc: WAITING 2a"
    answered = made.make("answer", "STEP=2a", "REPLY=x")
    assert answered.stderr.endswith(b"rdc: to go on:  make resume   (with TOOLS, as before)\n")
    assert made.end("resume", "AGENT=echo x") == "rdc: COMPLETE"
    made.end("clean")
    assert made.end("BREAK=1", "AGENT=echo x") == "rdc: WAITING 2a"
    (made.state / "calls" / "passed").unlink()  # as if it had been killed right before it waited
    assert made.end("resume", "AGENT=echo x") == "rdc: WAITING 2a"
    assert made.end("resume", "AGENT=echo x") == "rdc: COMPLETE"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("BREAK=4", "BREAK: there is no step 4; make help lists them"),
        ("BREAK=*", "BREAK: there is no step *; make help lists them"),
        ("EXPIRE=24h", "EXPIRE is not for Makefiles: their runs wait until somebody answers"),
        ("EXECUTOR=x", "EXECUTOR is for documents that call executors, which this one does not"),
    ],
)
def test_what_no_run_can_do_is_refused(tmp_path: Path, given: str, said: str) -> None:
    made = play(tmp_path, STEPS)
    assert made.end(given, "AGENT=echo x").startswith(f"rdc: error: {said}")
    assert not (made.state / "journal").exists()


def test_a_pause_between_attempts_that_was_cut_off_is_waited_to_its_end(tmp_path: Path) -> None:
    made = play(tmp_path, "# Play\n\n## STEP 1: One\n\nA\n")
    made.script("agent", 'echo "$RDC_ATTEMPT" >> log; echo > began; [ "$RDC_ATTEMPT" = 3 ] && echo x')
    process = begun(made, "AGENT=./agent", "AGENT_RETRIES=5")
    deadline = time.monotonic() + PATIENCE
    while b'"tries": 2' not in made.read(".rdc/main.make/calls/again") and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    began = time.monotonic()
    assert made.end("resume", "AGENT=./agent", "AGENT_RETRIES=5") == "rdc: COMPLETE"
    assert 1 < time.monotonic() - began < 8
    assert made.read("log") == b"1\n2\n3\n", "what has failed is not tried again"


def test_a_status_shows_conditions_as_they_were_written_and_help_lists_what_it_takes(tmp_path: Path) -> None:
    text = "# Play\n\n## INPUTS\n\n- `kind` (string): which\n\n## STEP 1: One\n\nA\n\n## STEP 2: Two\n\n"
    text += '```if kind == "a/b (ü|$)"```\nB\n```endif```\n\n## STEP 3: Three\n\nC\n\n## ARTIFACTS\n\ntype: json\n'
    made = play(tmp_path, text)
    assert made.end("kind=a/b (ü|$)", "AGENT=echo x", "BREAK=2") == "rdc: WAITING 3"
    assert 'if kind == "a/b (++++)")\n' in made.make("status").stdout.decode()
    helped = made.make("help").stdout.decode()
    assert {"make OUT=FILE", "make BREAK=STEP"} < {" ".join(line.split()[:2]) for line in helped.splitlines()}
