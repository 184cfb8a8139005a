"""The journal: what a cut-off write leaves is repaired, all other damage is refused (R1)."""

import os
from pathlib import Path

import pytest

from runtime_shim.engine.journal import Record, encode, read_journal
from runtime_shim.engine.private import opened_folder
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import Store, replay
from tests.support.process import Place, program, shell

pytestmark = pytest.mark.process

RECORDS: list[Record] = [
    {"kind": "begin", "format": 1, "title": 'Größe "x"\n'},
    {"kind": "done", "node": "1", "outcome": "pass", "changed": {"1 r": 1}},
    {"kind": "done", "node": "2"},
]


BEGIN: Record = {"kind": "begin", "node": "1", "condition": "ready", "registers": {}, "steps": []}
BEGIN |= {"program": "p", "name": "n", "source": "s", "nodes": {}}
WHOLE = encode({"n": 3, "kind": "x"})


def opened(path: Path) -> Store:
    """A journal to which records can be appended, whatever they are."""
    store = Store(str(path.parent))
    records, store.size = read_journal(path)
    store.count = len(records)
    store.within = opened_folder(store.directory)
    store.open()
    return store


def write(path: Path) -> bytes:
    journal = opened(path)
    for record in RECORDS:
        journal.append(record)
    return path.read_bytes()


def test_truncated_anywhere_it_keeps_every_finished_record(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    content = write(path)
    assert read_journal(path) == ([{"n": n, **record} for n, record in enumerate(RECORDS)], len(content))
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        whole = content[:length].count(b"\n") + (content[length : length + 1] == b"\n")
        reading = read_journal(path)
        assert path.read_bytes() == content[:length], "reading changes nothing"
        assert len(reading[0]) == whole
        opened(path).append({"kind": "next"})
        again = read_journal(path)
        assert [record["kind"] for record in again[0]] == [r["kind"] for r in RECORDS[:whole]] + ["next"]


def test_any_altered_byte_is_refused_and_nothing_changed(tmp_path: Path) -> None:
    """In each byte one bit, each time the next one."""
    path = tmp_path / "journal"
    content = write(path)
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= 1 << place % 8
        path.write_bytes(altered)
        with pytest.raises(UsageError, match=r"journal:\d+: the journal is damaged"):
            read_journal(path)
        assert path.read_bytes() == altered


@pytest.mark.parametrize(
    "tail",
    [
        b"\0", b"\0" * 100, b"\n", b"zzz", b"0123456x", b"01234567x", b"01234567 x", b"0000000g",
        b'01234567 {"n":4,"kind', b'01234567 {"n":3,\xff', b'01234567 {"n":3,"x":' + b"[" * 100_000,
        WHOLE[:-1] + b"x", WHOLE[:-1] + b"\0", b"00000000 " + WHOLE[9:-1],
        encode({"n": 4, "kind": "x"}), encode({"n": 4, "kind": "x"})[:-1],
    ],
)  # fmt: skip
def test_a_tail_that_no_write_leaves_is_refused(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(write(path) + tail)
    with pytest.raises(UsageError, match="journal:4:"):
        read_journal(path)


def test_whole_records_that_no_run_writes_are_refused(tmp_path: Path) -> None:
    """Also those that are swapped, repeated or missing."""
    path = tmp_path / "journal"
    assert replay([{**BEGIN, "format": 1}], path).node == "1"
    unfit: list[list[Record]] = [[{}], [{"node": "1"}], [BEGIN, {}], [BEGIN, {"kind": "done", "condition": "ready"}]]
    for records in (*unfit, [{**BEGIN, "registers": 1}]):
        with pytest.raises(UsageError, match="the journal is damaged"):
            replay([{"format": 1, **record} for record in records], path)
    one, two, three = write(path).splitlines(keepends=True)
    for lines in ([one, three, two], [one, one, two, three], [one, three], [two, three]):
        path.write_bytes(b"".join(lines))
        with pytest.raises(UsageError, match="damaged"):
            read_journal(path)


def test_half_a_record_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    content = write(path)
    journal = opened(path)
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: real(file, data[:10]))
        with pytest.raises(UsageError, match=r"No space left"):
            journal.append({"kind": "x"})
    assert path.read_bytes() == content


SYNC = "fdatasync" if hasattr(os, "fdatasync") else "fsync"


@pytest.mark.parametrize("sync", [SYNC, "fsync"])
def test_a_record_is_on_disk_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: str) -> None:
    if sync == "fsync":
        monkeypatch.delattr(os, "fdatasync", raising=False)
    synced: list[bytes] = []
    real = getattr(os, sync)
    path = tmp_path / "journal"

    def spy(file: int) -> None:
        real(file)
        synced.append(path.read_bytes())

    monkeypatch.setattr(os, sync, spy)
    journal = opened(path)
    synced.clear()
    journal.append({"kind": "a"})
    assert synced == [encode({"n": 0, "kind": "a"})]
    journal.append({"kind": "b"}, sync=False)
    assert len(synced) == 1


@pytest.mark.skipif(SYNC == "fsync", reason="directories are synced by it too")
def test_one_sync_for_each_step(tmp_path: Path) -> None:
    """In a process of its own: SIGCHLD may go to another thread where there is one, as in a worker of xdist."""
    place = Place(tmp_path, program({"1": shell("true", "2"), "2": shell("true", "3"), "3": shell("true", "COMPLETE")}))
    place.hook(f"import os\nreal = os.{SYNC}\nos.{SYNC} = lambda file: (print('synced', flush=True), real(file))")
    assert place.run("run").out == "synced\n" * (1 + 3)
