"""Nothing of a saved state is run or evaluated, even if somebody has written all of it, with its checksums."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workflows import act
from tests.workflows.test_continuation import Run, said

pytestmark = pytest.mark.share(3)

DOCUMENT = """\
# Deploy

## 1. Build

```bash
echo build >> "$LOG"
echo "GREETING=hello" >> "$GITHUB_ENV"
echo "$PWD/tools" >> "$GITHUB_PATH"
```

## 2. Count

```bash
echo "count $RDC_ATTEMPT" >> "$LOG"
echo "COUNTED=$RDC_ATTEMPT" >> "$GITHUB_ENV"
```

## 3. Again?

Once more?

- YES: RETRY 5 GOTO 2
- NO: CONTINUE

## 4. Install

```bash
echo "install $GREETING $COUNTED" >> "$LOG"
```
"""
DONE = ["build", "count 1", "count 1"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "repository").mkdir()
    found = Run(tmp_path / "repository", DOCUMENT.replace("YES: RETRY 5 GOTO 2", "YES: GOTO 2"))
    assert said(found(answers="yes")) == "WAITING 3"
    assert found.done() == DONE
    return found


def forge(run: Run, name: str, content: bytes | str) -> None:
    """Puts a file into what a run has kept, with checksums that fit."""
    path = run.kept() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    again = "find . -type f ! -name sums -exec cksum {} + | LC_ALL=C sort > ../sums && mv ../sums ."
    subprocess.run(["bash", "-c", again], cwd=run.kept(), check=True)


def refused(run: Run, canary: Path, answers: str = "") -> act.ActRun:
    ran = run(resume="1", answers=answers)
    assert ran.exit_code
    assert run.done() == DONE, "nothing was run"
    assert not canary.exists()
    return ran


def test_a_state_as_it_was_saved_goes_on(run: Run) -> None:
    forge(run, "answers", "")
    assert said(run(resume="1", answers="no")) == "COMPLETE"
    assert run.done() == [*DONE, "install hello 1"]


@pytest.mark.share(6)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("steps/s1/env", "BASH_ENV={canary}.sh\n"),
        ("steps/s1/env", "A<<E\nx\nE\nBASH_ENV={canary}.sh\n"),
        ("steps/s1/env", "LD_PRELOAD={canary}.so\n"),
        ("steps/s1/env", "NODE_OPTIONS=--require={canary}\n"),
        ("steps/s1/env", "BASH_FUNC_echo%%=() {{ touch {canary}; }}\n"),
        ("steps/s1/env", "A<<E\nnever ends\n"),
        ("steps/s1/env", "no variable\n"),
        ("steps/s1/output", "answer<<\nfail\n"),
        ("steps/s1/code", "$(touch {canary})\n"),
        ("steps/s1/code", "a[$(touch {canary})]"),
        ("steps/s1/other", ""),
        ("steps/s1.sh/code", "0"),
        ("loops/s2", "touch {canary}\n"),
        ("run", "touch {canary}\n"),
        ("run-id", "1\nBASH_ENV={canary}.sh\n"),
        ("answers", "pass\t3\n$(touch {canary})\n"),
        ("journal", "build 1 0 0\ns1;touch${{IFS}}{canary} 1 1 0\n"),
        ("journal", "build 1 0 0\n/e touch {canary};/ 1 1 0\n"),
    ],
)
def test_what_does_not_belong_there_is_refused_before_anything_runs(
    run: Run, tmp_path: Path, name: str, content: str
) -> None:
    canary = tmp_path / "canary"
    canary.with_suffix(".sh").write_text(f"touch {canary}\n", encoding="utf-8")
    forge(run, name, content.format(canary=canary))
    assert "is damaged or incomplete; nothing was run" in refused(run, canary, answers="no").summary


@pytest.mark.share(5)
@pytest.mark.parametrize(
    "content",
    [
        "touch {canary}\n",
        "count -; touch {canary}\n",
        "$(touch {canary}) -\n",
        "count a[$(touch${{IFS}}{canary})]\n",
        "other -\n",
        "count\n",
        "count - 0\n",
        "count -\ns2 -\n",
        'declare -- rdc_node="count"; touch {canary}\n',
        "",
    ],
)
def test_the_place_of_a_loop_is_data(run: Run, tmp_path: Path, content: str) -> None:
    canary = tmp_path / "canary"
    forge(run, "steps/count/loop", content.format(canary=canary))
    assert "The saved state of this loop is damaged" in refused(run, canary, answers="no").log


@pytest.mark.share(3)
@pytest.mark.parametrize("counter", ["a[$(touch {canary})]", "08", "1e3", "rdc_next", "-1", "9" * 19])
def test_the_counters_of_a_loop_are_numbers(tmp_path: Path, counter: str) -> None:
    (tmp_path / "repository").mkdir()
    run = Run(tmp_path / "repository", DOCUMENT.replace("YES: RETRY 5 GOTO 2", "YES: RETRY 5"))
    assert said(run(answers="yes")) == "WAITING 3"
    (state,) = run.kept().glob("steps/*/loop")
    assert state.read_text(encoding="utf-8") == "again - 1\n"
    canary = tmp_path / "canary"
    forge(run, str(state.relative_to(run.kept())), f"again - {counter.format(canary=canary)}\n")
    ran = run(resume="1", answers="no")
    assert "The saved state of this loop is damaged" in ran.log
    assert not canary.exists()


def test_a_value_that_looks_like_the_end_of_another_sets_nothing_else(run: Run) -> None:
    forge(run, "steps/build/env", "GREETING<<EOF\nhi\nrdc\nrdc_\nCOUNTED=9\nEOF")
    assert said(run(resume="1", answers="no")) == "COMPLETE"
    assert run.done()[3:] == ["install hi", "rdc", "rdc_", "COUNTED=9 1"]


# --- The workspace ----------------------------------------------------------------------------------------------------


def file(name: str, content: bytes = b"forged") -> tuple[tarfile.TarInfo, bytes]:
    found = tarfile.TarInfo(name)
    found.size = len(content)
    return found, content


def link(name: str, to: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, to
    return found, b""


MEMBERS: list[Callable[[Path], list[tuple[tarfile.TarInfo, bytes]]]] = [
    lambda outside: [file(f"{outside}/canary")],
    lambda _: [file("../canary")],
    lambda _: [file("a/../../canary")],
    lambda outside: [link("a", str(outside)), file("a/canary")],
    lambda _: [link("a", ".."), file("a/canary")],
    lambda _: [link("a", "."), link("a/b", ".."), file("a/b/canary")],
    lambda outside: [link("a", f"{outside}/present", tarfile.LNKTYPE), file("a")],
]


@pytest.mark.share(3)
@pytest.mark.parametrize("members", MEMBERS)
def test_the_workspace_holds_all_that_is_unpacked(
    run: Run, tmp_path: Path, members: Callable[[Path], list[tuple[tarfile.TarInfo, bytes]]]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "present").write_text("as it was", encoding="utf-8")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for member, content in members(outside):
            archive.addfile(member, io.BytesIO(content))
    forge(run, "workspace.tar.gz", packed.getvalue())
    ran = refused(run, outside / "canary", answers="no")
    assert "could not be put into the workspace" in ran.summary
    assert [path.name for path in outside.iterdir()] == ["present"]
    assert (outside / "present").read_text(encoding="utf-8") == "as it was"


def test_a_link_that_leads_out_is_kept_as_a_link(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    document = DOCUMENT.replace("echo build", "ln -s /etc/hosts link; echo build").replace(
        "install", "$(readlink link)"
    )
    run = Run(tmp_path / "repository", document)
    run()
    assert said(run(resume="1", answers="no")) == "COMPLETE"
    assert run.done()[-1] == "/etc/hosts hello 1"


def test_an_archive_that_is_cut_off_is_refused(run: Run, tmp_path: Path) -> None:
    forge(run, "workspace.tar.gz", (run.kept() / "workspace.tar.gz").read_bytes()[:-20])
    assert "could not be put into the workspace" in refused(run, tmp_path / "canary", answers="no").summary
