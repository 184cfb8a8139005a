"""Steps of a loop see what those before them have put into $GITHUB_ENV and $GITHUB_PATH, as the steps of a job do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.github.continued import ending
from tests.support import actions_engine as engine
from tests.support.github.compiling import text_of
from tests.support.runbooks import command

pytestmark = pytest.mark.tool

STRAIGHT = command("1", "FIRST", "PASS: CONTINUE", "FAIL: CONTINUE") + command("2", "SECOND")
LOOP = STRAIGHT + "\n- PASS: CONTINUE\n- FAIL: GOTO 1\n"
AFTER = "\n## 3\n\n```bash\nTHIRD\n```\n"


def run(folder: Path, text: str) -> engine.EngineRun:
    (folder / "repository").mkdir()
    env = {"LOG": str(folder / "log")}
    history = folder / "history"
    return engine.run(folder / "repository", text, history=history, env=env, secrets={"DEPLOY_TOKEN": "given"})


def lines(folder: Path, document: str, first: str, second: str, **options: object) -> list[str]:
    folder.mkdir()
    text = text_of(
        folder,
        document.replace("FIRST", first).replace("SECOND", second).replace("THIRD", second),
        {"checkout": False, "summary": True, **options},
    )
    run(folder, text)
    return (folder / "log").read_text(encoding="utf-8").splitlines()


SHOW = 'printf "%s\\n" "$A" "${B-none}" >> "$LOG"'


@pytest.mark.parametrize(
    "first",
    [
        'echo "A=plain" >> "$GITHUB_ENV"', 'printf "A=no line break" >> "$GITHUB_ENV"',
        'echo "A=with = and << in it" >> "$GITHUB_ENV"',
        'printf "A<<END\\none\\n\\n two\\nEND\\nB=both\\n" >> "$GITHUB_ENV"',
        'printf "A<<E=F\\nx\\nE=F\\n" >> "$GITHUB_ENV"', 'printf "A<<END\\nEND\\nB=empty\\n" >> "$GITHUB_ENV"',
        'printf "A=first\\nA=last\\n" >> "$GITHUB_ENV"',
        "printf 'A=$(touch canary)`touch canary`'\"'\"'; touch canary; \\\\\\n' >> \"$GITHUB_ENV\"",
        'printf "A<<END\\nB=not this\\nrdc\\nB<<rdc\\nEND\\n" >> "$GITHUB_ENV"', 'echo "A=*" >> "$GITHUB_ENV"',
        "printf 'A=\\303\\274\\001\\t\\n' >> \"$GITHUB_ENV\"", 'echo "A=1" >> "$GITHUB_ENV"; exit 1',
    ],
)  # fmt: skip
def test_a_step_of_a_loop_sees_what_a_step_would_see(tmp_path: Path, first: str) -> None:
    native = lines(tmp_path / "native", STRAIGHT, first, SHOW)
    looped = lines(tmp_path / "looped", LOOP + AFTER, first, SHOW)
    assert native != ["", "none"]
    assert looped == [*native, *native], "the second step of the loop, and the step after it"
    assert not list(tmp_path.rglob("canary"))


def test_a_variable_of_a_loop_is_replaced_in_each_turn(tmp_path: Path) -> None:
    first = 'echo "A=${A}x" >> "$GITHUB_ENV"'
    assert lines(tmp_path / "a", LOOP, first, 'echo "$A" >> "$LOG"; [ "$A" = xxx ]') == ["x", "xx", "xxx"]


def test_a_variable_does_not_reach_the_dispatcher(tmp_path: Path) -> None:
    names = "rdc_next rdc_node IFS 'SEC'ONDS rdc_outcome rdc_env line"
    first = f'for name in {names}; do echo "$name=/" >> "$GITHUB_ENV"; done; echo "a first" >> "$LOG"'
    assert lines(tmp_path / "a", LOOP, first, 'echo "a second" >> "$LOG"') == ["a first", "a second"]


def test_what_belongs_to_the_step_and_to_github_stays(tmp_path: Path) -> None:
    own = "DEPLOY_TOKEN GITHUB_REPOSITORY RUNNER_OS RDC_ATTEMPT"
    first = f'for name in {own}; do echo "$name=other" >> "$GITHUB_ENV"; done'
    second = 'echo "$DEPLOY_TOKEN $GITHUB_REPOSITORY $RUNNER_OS $RDC_ATTEMPT" >> "$LOG"'
    assert lines(tmp_path / "a", LOOP, first, second, secrets=["DEPLOY_TOKEN"]) == ["given owner/repository Linux 1"]


def test_each_step_has_files_of_its_own(tmp_path: Path) -> None:
    """As in steps, a step that writes again, or ends in the middle of a line, takes nothing from the others."""
    first = 'echo "A=1" >> "$GITHUB_ENV"; printf "B=2" >> "$GITHUB_ENV"'
    second = 'echo "$A $B" >> "$LOG"; cat "$GITHUB_ENV" >> "$LOG"; echo "C=3" > "$GITHUB_ENV"; [ "$C" ]'
    assert lines(tmp_path / "a", LOOP, first, second) == ["1 2", "1 2"]


def test_folders_come_before_those_that_were_added_earlier(tmp_path: Path) -> None:
    first = (
        'for i in a b a; do mkdir -p $i; echo "$PWD/$i" >> "$GITHUB_PATH"; done; printf "%s" "$PWD/c" >> "$GITHUB_PATH"'
    )
    second = 'echo "${PATH//$PWD/.}" | cut -d: -f1-4 >> "$LOG"'
    looped = lines(tmp_path / "looped", LOOP, first, second)
    assert looped[0].split(":")[:3] == ["./c", "./a", "./b"]


def test_folders_are_added_once_however_often_a_loop_turns(tmp_path: Path) -> None:
    first = 'echo "$PWD/tools" >> "$GITHUB_PATH"; echo "A=$((A + 1))" >> "$GITHUB_ENV"'
    second = '[ "$A" = 20 ] && grep -o "$PWD/tools" <<< "$PATH" | wc -l >> "$LOG"'
    assert lines(tmp_path / "a", LOOP, first, second) == ["1"]


@pytest.mark.parametrize("line", ["no variable", "=value", "A<<", "A<<END\\nnever"])
def test_a_line_that_the_runner_refuses_fails_the_step(tmp_path: Path, line: str) -> None:
    document = LOOP.replace("- PASS: CONTINUE\n- FAIL: CONTINUE\n", "- PASS: CONTINUE\n- FAIL: STOP refused\n")
    text = text_of(
        tmp_path,
        document.replace("FIRST", f'printf "{line}\\n" >> "$GITHUB_ENV"').replace("SECOND", "true"),
        {"checkout": False, "summary": True},
    )
    ran = run(tmp_path, text)
    assert ending(ran) == "STOP refused"
    assert "a line is neither NAME=value nor NAME<<DELIMITER" in ran.log


def test_empty_lines_are_passed_over(tmp_path: Path) -> None:
    first = 'printf "\\nA=1\\n\\n\\nB=2\\n\\n" >> "$GITHUB_ENV"'
    assert lines(tmp_path / "a", LOOP, first, 'echo "$A $B" >> "$LOG"') == ["1 2"]
