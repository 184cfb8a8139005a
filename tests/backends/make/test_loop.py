"""The loop of Makefiles that run their steps: its size, its text, and whose state it takes."""

import os
import re
from functools import partial
from pathlib import Path

import pytest

from backends.make.native import common, loop
from tests.conftest import ROOT
from tests.support.backend_programs import Made
from tests.support.documents import program_at
from tests.support.golden import INPUTS, NAMES, SECRETS, STOPS, of
from tests.support.makefiles import FLOW, Place

pytestmark = pytest.mark.process

MOST = {"deploy-with-rollback": 248, "release": 270}


def makefile(name: str) -> str:
    """The Makefile of an example, or "" if it calls the program."""
    text = of(f"{name}/{name}.mk").read_text(encoding="utf-8")
    return "" if "define RDC_CHECKED\n" in text else text


@pytest.mark.parametrize("name", MOST)
def test_a_whole_makefile_is_short(name: str) -> None:
    assert 0 < len(makefile(name).splitlines()) <= MOST[name]


@pytest.mark.parametrize("name", NAMES)
def test_below_the_steps_all_makefiles_are_the_same(name: str) -> None:
    text = makefile(name)
    if text:
        below = text[text.index("# --- The same in all Makefiles") :]
        assert below.endswith(common())
        assert len(below.splitlines()) <= 188
        assert [line.partition(" ")[0] for line in below.removesuffix(common()).splitlines()[1:]] == [
            "RDC_ID", "RDC_STATE", "RDC_STEPS", "RDC_QUESTIONS", "RDC_COUNTERS",
        ]  # fmt: skip


def test_the_loop_is_short_and_make_changes_nothing_in_it() -> None:
    lines = loop().splitlines()
    assert len(lines) <= 145
    assert not [line for line in lines if line.endswith("\\") or line.split()[:1] in (["define"], ["endef"])]


def test_the_target_has_few_lines() -> None:
    files = [path for path in (ROOT / "backends/make").rglob("*") if path.suffix in {".py", ".sh", ".jinja"}]
    # Ten lines are for what headers say of the answers that end a run, and of checks that are skipped.
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 1900


def test_state_that_another_user_can_change_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    assert "WAITING 2" in place.make().stdout
    state = tmp_path / ".rdc/main.make"
    changes = [(partial(each.chmod, 0o777), partial(each.chmod, 0o700)) for each in (state, state.parent)]
    if os.geteuid() == 0:  # only root can give files to other users
        changes.append((partial(os.chown, state, 65534, 65534), partial(os.chown, state, 0, 0)))
    for change, back in changes:
        change()
        assert "rdc: error: another user can change .rdc/main.make" in place.make("REPLY=yes").stdout
        back()
    assert "WAITING 3" in place.make("REPLY=yes").stdout


def replies_of(answers: Path) -> list[list[str]]:
    """The lines of a file of answers: a word, maybe behind a step."""
    text = answers.read_text(encoding="utf-8") if answers.exists() else ""
    return [line.split() for line in text.splitlines() if line.strip()]


@pytest.mark.share(6)
@pytest.mark.parametrize("name", NAMES)
def test_they_run_to_their_end(name: str, tmp_path: Path) -> None:
    answers = ROOT / "examples" / "answers" / f"{name}.txt"
    made = Made(tmp_path, program_at(ROOT / "examples" / f"{name}.runbook.md"))
    is_native = not (tmp_path / "rdc").exists()
    given = [f"ANSWERS={answers}"] if answers.exists() and not is_native else []
    done = made.make(*INPUTS.get(name, [])[1::2], *given, **SECRETS)
    replies = replies_of(answers) if is_native else []
    while waiting := re.findall(r"^rdc: WAITING (\S+)", done.stdout.decode(), re.MULTILINE):
        reply = next(each for each in replies if each[:-1] in ([], waiting))
        replies.remove(reply)
        done = made.make("resume", f"STEP={waiting[0]}", f"REPLY={reply[-1]}", **SECRETS)
    words = done.stdout.decode().splitlines()[-1].split()
    assert words[:2] == ["rdc:", "STOP" if name in STOPS else "COMPLETE"], done.stderr
    assert words[2:], "every end of an example has a message"
    assert bool(done.returncode) == (name in STOPS)
