"""A secret that a step has handed to one without it: the last step knows it, so nothing of it is kept or shown."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from compiler.ir.tasks import End
from tests.backends.github.routed import (
    COMPLETE,
    Agent,
    Ask,
    Keep,
    Shell,
    compiled,
    node,
    program,
    ref,
    text,
    to,
    words,
)
from tests.backends.github.routed_runs import OPTIONS, ended, run

SECRET = "sesame_open*now[1]"
GIVEN = {**OPTIONS, "secrets": ["KEY"], "steps": {"*": {"secrets": []}, "1": {"secrets": ["KEY"]}}}
TELL = Shell("sh", text('echo "v=$(cat k)" > "$RDC_OUTPUT"; rm k'))


def kept(folder: Path) -> bytes:
    """All that a run has left as artifacts."""
    files = [path for path in (folder / "history").rglob("*") if path.is_file()]
    return b"".join(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in files)


LEAKS = {
    "a text that was overwritten": ('printf %s "$KEY" > k', 'echo "v=none" > "$RDC_OUTPUT"'),
    "a report": (
        'printf %s "$KEY" > k',
        'mkdir -p "$RUNNER_TEMP/rdc/reports"; echo "$KEPT" > "$RUNNER_TEMP/rdc/reports/a.md"',
    ),
    "the name of a file": ('printf %s "$KEY" > k; mkdir "d-$KEY"', "true"),
    "a link": ('printf %s "$KEY" > k; ln -s "$KEY" link', "true"),
}


@pytest.mark.parametrize(("first", "then"), LEAKS.values(), ids=LEAKS)
def test_nothing_is_kept_that_holds_it(tmp_path: Path, first: str, then: str) -> None:
    is_told = "v=none" in then
    taken = Shell("sh", text(f"KEPT=$(cat k); rm k; {then}"))
    made = program(
        node("1", Shell("sh", text(first)), to("2")),
        node("2", TELL if is_told else taken, to("3", do=[Keep("v", "output", "v")])),
        node("3", Shell("sh", text(then if is_told else "true")), to("4", do=[Keep("v", "output", "v")])),
        node("4", Agent("", text("x")), to("5")),
        node("5", Ask("input", text("?")), to(COMPLETE)),
        slots=("v",),
    )
    done = run(tmp_path, compiled(made, GIVEN), {}, secrets={"KEY": SECRET})
    assert "The run was not saved, so it cannot be continued: " in done.summary, done.log
    assert SECRET.encode() not in kept(tmp_path)
    assert "sesame" not in done.summary


@pytest.mark.parametrize("asks", [False, True], ids=["in a message", "in a question"])
def test_markup_hides_it_from_nobody_who_looks_for_it(tmp_path: Path, asks: bool) -> None:
    made = program(
        node("1", Shell("sh", text('printf %s "$KEY" > k')), to("2")),
        node("2", TELL, to("3", do=[Keep("v", "output", "v")])),
        node("3", Agent("", text("x")), to("4" if asks else "end")),
        node("4", Ask("select", words("Why ", ref("v")), options=(words("no ", ref("v")), text("o"))), to("end")),
        node("end", End("stop", words("It was ", ref("v")))),
        slots=("v",),
    )
    done = run(tmp_path, compiled(made, GIVEN), {}, secrets={"KEY": SECRET})
    assert ended(done) == ("WAITING 4" if asks else "STOP It was ***")
    assert "sesame" not in done.summary
