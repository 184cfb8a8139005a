"""Journals that were cut at any length, or of which any byte was altered, and the programs that find them so (R1).

What a write that was cut off leaves is fixed, and no step whose end is recorded runs again. All other damage is
refused with the file and the line, nothing is changed or run then, and the journal can be put away.
`python -m tests.robustness.test_journal_damage` alters each byte in each way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.robustness.forked import Calls, CommandResult
from tests.robustness.places import FLOW, Place, archived

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

DAMAGES: tuple[int | str, ...] = (0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, "\0", "\n", " ", "|")
"""What an altered byte becomes: with these bits turned over, or another one."""


class Alteration(NamedTuple):
    """A place in a journal, and what becomes of its byte."""

    place: int
    way: int | str

    def apply(self, content: bytes) -> bytes:
        """The content with that byte altered; by its lowest bit where it is already what it shall become."""
        old = content[self.place]
        new = ord(self.way) if isinstance(self.way, str) else old ^ self.way
        return content[: self.place] + bytes([new if new != old else old ^ 1]) + content[self.place + 1 :]


def altered(size: int, ways: Iterable[int | str] = ()) -> Iterator[Alteration]:
    """Each byte altered in these ways, or if there are none, in one of all."""
    in_turn = cycle(DAMAGES)
    for place in range(size):
        for way in ways or (next(in_turn),):
            yield Alteration(place, way)


def refusals(
    place: Place,
    call: Callable[..., CommandResult],
    words: tuple[tuple[str, ...], ...],
    alterations: Iterable[Alteration],
) -> int:
    """See that each altered journal is refused and nothing changed or run; how many there were."""
    content, log, count = place.journal.read_bytes(), place.log(), 0
    for count, alteration in enumerate(alterations, 1):
        damaged = alteration.apply(content)
        place.journal.write_bytes(damaged)
        done = call(*words[count % len(words)])
        line = content[: alteration.place].count(b"\n") + 1
        assert done.code == 2, (damaged, done)
        assert f"rdc: error: .rdc/main/journal:{line}: the journal is damaged" in done.out + done.err
        assert "Traceback" not in done.err
        assert place.journal.read_bytes() == damaged
        assert place.log() == log
    place.journal.write_bytes(content)
    return count


def finished(place: Place) -> bytes:
    """Run a program to its end, and return its journal."""
    (place.folder / "answers").write_text("yes\n", encoding="utf-8")
    place.write_log([])
    assert place.call("run", "--answers", "answers").code == 0
    assert place.log() == ["one", "three"]
    return place.journal.read_bytes()


def whole_lines(content: bytes, length: int) -> list[bytes]:
    """The lines that are whole in the first bytes of a content, if only without the end of the line."""
    count = content[:length].count(b"\n") + (content[length : length + 1] == b"\n")
    return content.splitlines()[:count]


def cuts(content: bytes) -> list[int]:
    """Lengths of each kind: nothing, and of each line the middle and all but its end."""
    ends = [place for place, byte in enumerate(content) if byte == ord("\n")]
    return [0, *(length for start, end in zip([-1, *ends], ends, strict=False) for length in ((start + end) // 2, end))]


# --- Python -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def python(tmp_path: Path) -> Iterator[tuple[Place, Calls]]:
    place = Place(tmp_path, FLOW)
    finished(place)
    with Calls(place.script) as calls:
        yield place, calls


def test_the_python_program_refuses_a_journal_with_any_byte_altered(python: tuple[Place, Calls]) -> None:
    """Each byte and each bit is altered in the tests of the journal itself; here it is each 41st byte."""
    place, calls = python
    some = islice(altered(place.journal.stat().st_size), 0, None, 41)
    assert refusals(place, calls, (("status",), ("resume",), ("run",), ("status",)), some) > 25


def test_the_python_program_puts_a_damaged_journal_away(python: tuple[Place, Calls]) -> None:
    place, calls = python
    damaged = b"x" + place.journal.read_bytes()[1:]
    place.journal.write_bytes(damaged)
    assert calls("reset").code == 0
    assert [archived(path) for path in (place.state / "history").iterdir()] == [damaged]
    assert calls("run").code == 75


def test_the_python_program_goes_on_with_a_journal_that_was_cut(python: tuple[Place, Calls]) -> None:
    place, calls = python
    content = place.journal.read_bytes()
    for length in cuts(content):
        python_goes_on(place, calls, content, length)


def python_goes_on(place: Place, calls: Calls, content: bytes, length: int) -> None:
    """See that a run goes on where a journal that was cut says that it stands."""
    cut, whole = content[:length], whole_lines(content, length)
    ended = [name for name, step in (("one", 1), ("look", 2), ("three", 3)) if has_ended(whole, step)]
    done = [name for name in ended if name != "look"]
    place.journal.write_bytes(cut)
    place.write_log(done)
    status = calls("status")
    assert (status.code, status.err == "") == ((0, True) if whole else (2, False))
    assert place.journal.read_bytes() == cut
    if not whole:
        assert "no run has started" in calls("resume").last
        assert calls("run", "--answers", "answers").code == 0
    elif len(ended) in {0, 2}:
        assert calls("resume", "--answers", "answers").code == 75
        assert place.log() == done, "what may have been done is not run without a decision"
    assert calls("resume", "--answers", "answers", "--rerun-interrupted").code == 0
    assert place.log() == ["one", "three"]


def has_ended(lines: list[bytes], step: int) -> bool:
    """Whether the end of a step is among the lines."""
    return any(b'"kind":"done","node":"%d"' % step in line for line in lines)


def sweep() -> None:
    """Alter each byte in each way, and cut at each length."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), FLOW)
        content = finished(place)
        with Calls(place.script) as calls:
            count = refusals(place, calls, (("status",), ("resume",)), altered(len(content), DAMAGES))
            for length in range(len(content) + 1):
                python_goes_on(place, calls, content, length)
        print(f"Python: {count} damaged journals refused, {len(content)} that were cut gone on with")


if __name__ == "__main__":
    sweep()
