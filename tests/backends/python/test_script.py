"""`runtime=script`: a program that runs from beginning to end, answers as a runbook does, and keeps nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backends.python import PythonBackend
from tests.support.cli import call, document
from tests.support.documents import program_at
from tests.support.interpreters import ENDS, end_of_support
from tests.support.process import Screen, is_gone, wait_until
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process

LOOP = (
    "# Release\n\n"
    + command(
        "1. Try",
        'echo "attempt $RDC_ATTEMPT" >> log\n[ "$RDC_ATTEMPT" = 3 ]',
        "PASS: CONTINUE",
        'FAIL: RETRY 3 STOP "never"',
    )
    + question("2. Ready?", "Look at the dashboard.", "YES: CONTINUE", "NO: GOTO 1")
    + question("3. Ship", "Careful.")
    + command("### 3.1 Tag", 'echo "tag $RDC_STEP $RDC_TITLE ${RDC_RUN_ID%-*}" >> log')
    + command(
        "### 3.2 Push", "echo push >> log; exit $BROKEN", 'PASS: COMPLETE "out"', 'FAIL: STOP "not out"', shell="sh"
    )
)

SLOW = "# Slow\n\n" + command("1. Wait", "sleep 60 & echo $! > pid; wait") + command("2. Never", "touch never")


def script(folder: Path, text: str = LOOP) -> Path:
    document(folder, "release.runbook.md", text)
    done = call("compile", "release.runbook.md", "--to", "python", "-O", "runtime=script", cwd=folder)
    assert done.code == 0, done.err
    return folder / "release.py"


def run(path: Path, *words: str, python: str = sys.executable, broken: int = 0) -> subprocess.CompletedProcess[str]:
    command = [python, "-W", "error", str(path), *words]
    environment = {**os.environ, "BROKEN": str(broken)}
    return subprocess.run(
        command, cwd=path.parent, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("which", ENDS)
def test_it_walks_to_the_end_and_leaves_nothing_but_what_commands_leave(tmp_path: Path, which: str) -> None:
    path = script(tmp_path)
    (tmp_path / "answers").write_text("2 no\n# a comment\nyes\n")
    done = run(path, "--answers", "answers", python=end_of_support(which))
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "rdc: COMPLETE out"), done.stderr
    log = (tmp_path / "log").read_text().splitlines()
    assert log == [*(f"attempt {n}" for n in (1, 2, 3, 1, 2, 3)), "tag 3.1 Tag script", "push"]
    assert {entry.name for entry in tmp_path.iterdir()} == {"release.runbook.md", "release.py", "answers", "log"}
    assert (done.stderr.count("3 Ship\n"), "1 Try - attempt 3\n    PASS" in done.stderr) == (1, True), done


@pytest.mark.parametrize(
    ("answers", "code", "message"),
    [
        ("yes\n", 1, "rdc: STOP not out"),
        (None, 2, "rdc: error: 2 needs an answer; run at a terminal or use --answers FILE"),
        ("perhaps\n", 2, "answers:1: expected pass, fail, yes or no"),
        ("3.1 yes\n", 2, "answers:1: 3.1 takes no answer"),
    ],
)
def test_answers_that_do_not_fit_end_it(tmp_path: Path, answers: str | None, code: int, message: str) -> None:
    path = script(tmp_path)
    if answers:
        (tmp_path / "answers").write_text(answers)
    done = run(path, *["--answers", "answers"] * bool(answers), broken=7)
    assert (done.returncode, message in done.stderr.splitlines()[-1]) == (code, True), done.stderr
    assert (tmp_path / "log").exists() == (answers in ("yes\n", None)), "answers are checked before anything runs"


def test_a_person_answers_at_the_terminal(tmp_path: Path) -> None:
    screen = Screen([sys.executable, str(script(tmp_path))], tmp_path, {**os.environ, "BROKEN": "0"})
    screen.expect(r"Look at the dashboard\.\n +\[yes/no\] ")
    screen.type("maybe\n")
    screen.expect(r"\[yes/no\] ")
    screen.type("y\n")
    assert (screen.close(), "rdc: COMPLETE out" in screen.seen) == (0, True)


def begun(path: Path, *before: str) -> subprocess.Popen[str]:
    """Start a script as the leader of its group, as a shell at a terminal or a service does."""
    words = [*before, sys.executable, str(path)]
    return subprocess.Popen(
        words, cwd=path.parent, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


@pytest.mark.parametrize("names", ["TERM", "INT TERM", "INT"])
def test_a_signal_ends_it_with_all_that_its_command_began(names: str, tmp_path: Path) -> None:
    """Systems that cancel a job send SIGINT and then SIGTERM."""
    process, pid = begun(script(tmp_path, SLOW)), written(tmp_path / "pid")
    for name in names.split():
        process.send_signal(signal.Signals[f"SIG{name}"])
    assert process.wait(15) == 130
    assert not (tmp_path / "never").exists()
    wait_until(lambda: is_gone(pid))


BRIEF = SLOW.replace("sleep 60 & echo $! > pid; wait", "echo $$ > pid; sleep 0.3")

TRAPS = SLOW.replace(
    "sleep 60 & echo $! > pid; wait",
    "trap 'echo got >> got; sleep 0.1; exit CODE' NAME; echo $$ > pid; while :; do sleep 0.05; done",
)


@pytest.mark.parametrize(
    ("where", "name", "code"),
    [
        ("alone", "INT", 0), ("alone", "TERM", 3), ("alone", "HUP", 0), ("alone", "QUIT", 3), ("terminal", "INT", 3),
        ("terminal", "TERM", 0), ("terminal", "HUP", 3), ("terminal", "QUIT", 0), ("key", "INT", 0), ("key", "QUIT", 3),
    ],
)  # fmt: skip
def test_a_signal_or_key_reaches_the_command_once(tmp_path: Path, where: str, name: str, code: int) -> None:
    """At a terminal a signal comes to the process in one case, and to its group in the other."""
    path = script(tmp_path, TRAPS.replace("CODE", str(code)).replace("NAME", name))
    number = signal.Signals[f"SIG{name}"]
    if where == "alone":
        process = begun(path)
        written(tmp_path / "pid")
        process.send_signal(number)
        assert process.wait(15) == 130
    else:
        screen = Screen([sys.executable, str(path)], tmp_path, dict(os.environ))
        written(tmp_path / "pid")
        if where == "key":
            screen.type({"INT": "\x03", "QUIT": "\x1c"}[name])
        else:
            (os.killpg if code else os.kill)(screen.pid, number)
        assert screen.close() == 130
        assert ("PASS" in screen.seen, "rdc: INTERRUPTED" in screen.seen) == (code == 0, True)
    assert (tmp_path / "got").read_text() == "got\n"
    assert not (tmp_path / "never").exists()


def test_a_command_that_ignores_signals_is_killed_in_the_end(tmp_path: Path) -> None:
    path = script(tmp_path, TRAPS.replace("echo got >> got; sleep 0.1; exit CODE", "").replace("NAME", "TERM"))
    path.write_text(path.read_text().replace("PATIENCE = 10", "PATIENCE = 1", 1))
    process, pid = begun(path), written(tmp_path / "pid")
    process.terminate()
    assert process.wait(15) == 130
    wait_until(lambda: is_gone(pid))


def test_nohup_holds(tmp_path: Path) -> None:
    process = begun(script(tmp_path, BRIEF), "sh", "-c", 'trap "" HUP; exec "$@"', "sh")
    written(tmp_path / "pid")
    process.send_signal(signal.SIGHUP)
    assert process.wait(15) == 0
    assert (tmp_path / "never").exists()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells which signals are ignored")
def test_commands_ignore_no_signal_that_python_ignores(tmp_path: Path) -> None:
    looks = "grep SigIgn /proc/self/status > ignored; grep SigBlk /proc/self/status > blocked"
    assert run(script(tmp_path, SLOW.replace("sleep 60 & echo $! > pid; wait", looks))).returncode == 0
    for name in ("ignored", "blocked"):
        assert int((tmp_path / name).read_text().split()[1], 16) & 0x7FFFFFFF == 0


def test_a_missing_shell_fails_the_step(tmp_path: Path) -> None:
    path = script(tmp_path, SLOW)
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "    FAIL" in done.stderr) == (1, True), done.stderr


def test_what_was_typed_before_a_question_is_no_answer(tmp_path: Path) -> None:
    text = "# A\n\n## 1. Wait\n\n```sh\ntouch ready; sleep 0.5\n```\n\n## 2. Go?\n\n- YES: COMPLETE\n- NO: STOP\n"
    screen = Screen([sys.executable, str(script(tmp_path, text))], tmp_path, dict(os.environ))
    screen.expect("1 Wait")
    screen.type("yes\n")
    screen.expect(r"\[yes/no\] ")
    screen.type("no\n")
    assert screen.close() == 1


def written(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def test_help_says_what_it_is_and_other_words_are_refused(tmp_path: Path) -> None:
    path = script(tmp_path)
    done = run(path, "--help")
    assert (done.returncode, "It keeps no state" in done.stdout, run(path, "resume").returncode) == (0, True, 2)
    assert not (tmp_path / "log").exists()
    assert "-O runtime=script" in path.read_text(), "the header says what to leave out for a program that resumes"


@pytest.mark.parametrize(
    ("head", "body", "feature"),
    [
        ("---\nrdc: {inputs: {WHO: {}}}\n---\n", "echo $WHO", "inputs"),
        ("---\nrdc: {outputs: [TAG]}\n---\n", "echo TAG=1 >> $RDC_OUTPUT", "outputs"),
        ("---\nrdc: {secrets: [TOKEN]}\n---\n", "echo", "secrets"),
        ("---\nrdc: {steps: {1: {timeout: 5s}}}\n---\n", "echo", "timeouts"),
    ],
)
def test_what_needs_a_journal_is_refused_by_name(tmp_path: Path, head: str, body: str, feature: str) -> None:
    document(tmp_path, "a.runbook.md", f"{head}# A\n\n## 1. Do\n\n```bash\n{body}\n```\n")
    done = call("compile", "a.runbook.md", "--to", "python", "-O", "runtime=script", cwd=tmp_path)
    assert (done.code, "error[RD502]: a script without state does not support" in done.err) == (1, True), done
    assert "remove `runtime=script`" in done.err
    assert not (tmp_path / "a.py").exists()
    assert call("compile", "a.runbook.md", "--to", "python", cwd=tmp_path).code == 0, f"the remedy works ({feature})"


def test_all_reasons_are_one_diagnostic() -> None:
    compiled = program_at("examples/workflows/dependency-update.workflow.yaml")
    found = PythonBackend().emit(compiled, {"runtime": "script"}).diagnostics
    assert [item.code for item in found] == ["RD502"]
    assert "an agent call (steps survey, update, fix, publish), " in found[0].message
    assert ", a gate (steps update/human, publish/human), " in found[0].message
    assert found[0].message.endswith(", a time limit (step update), a limit on its visits (step fix)")
    assert (found[0].span, found[0].help) == (compiled.nodes[0].origin.span, "remove `runtime=script`")


PROMPT = "Watch the dashboard, `$(touch owned)`, $(touch owned) and $HOME.\n\nendef\n@echo %s \\\n"
GROUP = "## 1. Group\n\nThe group's text.\n\n" + command(
    "### 1.1 Look", "echo looking; [ -e again ] || ! touch again", "FAIL: RETRY 1 STOP", text=PROMPT
)


def test_the_text_of_a_group_and_of_a_step_is_shown_once_above_the_output_of_the_command(tmp_path: Path) -> None:
    path = script(tmp_path, GROUP)
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    ).stdout.decode()
    shown = "".join(f"    {line}".rstrip(" ") + "\n" for line in PROMPT.splitlines())
    assert done.count(shown) == 1, done
    assert done.index("    The group's text.\n") < done.index(shown) < done.index("\nlooking\n")
    assert not (tmp_path / "owned").exists()


def test_operators_have_nothing_to_do_with_a_script(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", LOOP)
    words = ["--to", "python", "-O", "runtime=script", "-O", "operator=full"]
    done = call("compile", "a.runbook.md", *words, cwd=tmp_path)
    assert (done.code, "remove `operator: full`" in done.err) == (2, True), done.err


def test_verify_knows_a_script_with_and_without_its_source(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    path = script(tmp_path)
    assert call("verify", path.name, cwd=tmp_path).code == 0
    (tmp_path / "release.runbook.md").unlink()
    assert call("verify", path.name, cwd=tmp_path).code == 3
    path.write_text(path.read_text().replace('return "fail" if status', 'return "pass" if status'))
    assert call("verify", path.name, cwd=tmp_path).code == 1
