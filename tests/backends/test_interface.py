"""What a target says of its outputs to `rdc verify`, `rdc build`, `rdc runtime` and `rdc test`."""

from collections import Counter
from itertools import chain

import pytest

from backends.base import OutputFile, VerifyResult, VerifyStatus, changed_beside, first_difference
from backends.registry import BACKENDS, load
from compiler.ir.tasks import End, Shell
from compiler.ir.texts import text
from compiler.text.source import sha256_of
from tests.rdc.sample_target import SampleBackend
from tests.support.sample_programs import node, program, to

DIGEST = "0123456789abcdef" * 4
TARGETS = pytest.mark.parametrize("name", BACKENDS)
RUN = program(node("1", Shell("sh", text("true")), to("COMPLETE")), node("COMPLETE", End("complete")))


def test_only_the_source_proves_an_output_of_a_target_that_does_not_verify_it() -> None:
    found = SampleBackend().verify_output(OutputFile("a.txt", "any text"), "the source has changed")
    assert found == (VerifyStatus.SOURCE_MISSING, "the source has changed; only the source proves this file", 0)


def test_each_runtime_in_an_output_or_beside_it_is_an_item_for_a_review() -> None:
    line = f"# The runtime of rdc 0.1.0, edition values (sha256 {DIGEST}).\n".encode()
    assert list(SampleBackend().review_items("a.txt", b"first\n" + line)) == [f"runtime values {DIGEST}"]
    assert list(SampleBackend().review_items("a.txt", b" " + line)) == []
    found = SampleBackend().review_items("rdc/rdc_runtime_agents_01234567.py", b"a text\n")
    assert list(found) == [f"runtime agents {sha256_of('a text' + chr(10))}"]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (OutputFile("b.py", "new", sha256_of("new")), "its companion file b.py was changed"),
        (OutputFile("b.py", message="no such file"), "cannot read its companion file b.py: no such file"),
        (OutputFile("b.py", "old", sha256_of("old")), ""),
    ],
)
def test_a_companion_file_must_have_its_text(found: OutputFile, message: str) -> None:
    assert changed_beside(found, "old") == (VerifyResult.changed(0, message) if message else None)


def test_the_first_line_that_differs_is_counted_from_1() -> None:
    assert (first_difference("a\nb\nc", "a\nx\nc"), first_difference("a", "a\nb")) == (2, 2)


def test_each_runtime_has_one_target_and_a_text_that_is_found_as_a_whole() -> None:
    runtimes = [load(name).runtimes() for name in BACKENDS]
    assert set(Counter(chain.from_iterable(runtimes)).values()) == {1}
    for name, each in zip(BACKENDS, runtimes, strict=True):
        for runtime, written in each.items():
            assert written.strip()
            assert load(name).runtime_in(runtime, written) in written


@TARGETS
def test_a_first_line_is_that_of_the_output_and_of_no_other_target(name: str) -> None:
    target = load(name)
    written = target.emit(RUN, {}).text or ""
    owners = [other for other in BACKENDS if (first := load(other).first_line) and written.startswith(f"{first}\n")]
    assert owners == ([name] if target.first_line else [])
    assert bool(target.first_line) == bool(target.noun)


@TARGETS
def test_a_run_names_each_step_by_one_string(name: str) -> None:
    shown = load(name).shown_steps(RUN)
    assert len({shown["1"], shown["COMPLETE"]}) == 2


def test_pins_have_a_commit_and_a_version() -> None:
    pins = [pin for name in BACKENDS for pin in load(name).pins().values()]
    assert pins
    assert all(len(pin.partition("@")[2].partition(" # ")[0]) == 40 and " # v" in pin for pin in pins)
