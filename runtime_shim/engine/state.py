"""The state of a run: its journal, its lock, its archive, and the steps of its program."""

import errno
import fcntl
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.journal import Record, encode, read_journal
from runtime_shim.engine.private import at_once, naming, opened_folder, refuse_links
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.signals import has_members, is_alive, started_at
from runtime_shim.engine.texts import one_line

ENDED = ("complete", "stop")
MOVES = ("goto", "retry")  # outcomes of moves by an operator
OURS, FORMAT = ".rdc", 1  # parent of state directories; journal format
LONGEST_NAME, LENDS = 200, "lends "  # characters; starts a lock that its holder lends
Step = Sequence[str]  # name, kind, title, digest of all that it does
NOT_DONE = (
    *("title", "at", "edges", "group", "attempt", "variables", "placeholders", "timeout", "delay", "backoff", "expire"),
)
# Steps with the same key are the same, by the surest key first. Numbers change if steps are added.
FOUND_BY: tuple[Callable[[Step], Any], ...] = (
    lambda step: step,
    lambda step: step[1:],
    lambda step: step[1:3],
    lambda step: (step[1], step[3]),
    lambda step: step[:2] if step[0][0].isalpha() else "",
)


def utc_now() -> str:
    """Return the current time in the format of records."""
    now = time.time_ns() // 1000
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{now % 10**6:06}Z", time.gmtime(now // 10**6))


def user() -> str:
    """Return the user's name, or number if there is no name."""
    import getpass

    with suppress(KeyError, OSError):
        return one_line(getpass.getuser())[:LONGEST_NAME]
    return str(os.getuid())


def this_process() -> str:
    """Return the number and user of this process, where it is and since when, as text."""
    place = os.uname().nodename
    with suppress(OSError):
        place = f"{os.ttyname(0)} on {place}"
    return f"{os.getpid()}, {user()} at {place}, since {utc_now()[:19]}Z\n"


def digest(value: object) -> str:
    """Return the SHA-256 of a text, or of another value as canonical JSON."""
    import hashlib  # slow to import

    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def identified(program: Table, nodes: Table) -> Table:
    """Return a program's identity: name, source, hash, and its steps with short digests."""
    whole = {key: program.get(key, {}) for key in ("entry", "registers", "scopes", *["rules"] * ("rules" in program))}
    hashes = {"program": digest({**whole, "nodes": nodes}), "nodes": {name: digest(nodes[name])[:12] for name in nodes}}
    return {"name": program["name"], "source": program["source"], **hashes, "steps": steps_of(program["nodes"])}


def without_places(program: Table) -> Table:
    """Return the steps without their line numbers in the document."""
    return {name: {key: node[key] for key in node if key != "at"} for name, node in program["nodes"].items()}


def differences(recorded: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return lines that name the steps added, removed and changed since a run was recorded."""
    added, removed = ([name for name in one if name not in other] for one, other in ((now, recorded), (recorded, now)))
    changed = [name for name in now if recorded.get(name, now[name]) != now[name]]
    found = {"added": added, "removed": removed, "changed": changed}
    lines = [f"steps {how}: {', '.join(names)}" for how, names in found.items() if names]
    return lines or ["no step changed; only the first step, the counters or the rules differ"]


class State:
    """The state of a run: running, ready (its step has not started), waiting, complete or stop.

    `finished` has no stored strings, which may be long.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.begin, self.message = records[0], records[0].get("message", "")
        self.finished: list[Record] = []
        self.notes: list[Record] = []  # of the current step, such as its processes
        self.used: set[tuple[str, int]] = set()  # digest and line number of each used answer
        self.decided: list[Record] = []
        self.brought: dict[str, str] = {}  # digest of each file of answers when the run first got it
        for record in records:
            self.apply(record)

    def apply(self, record: Record) -> None:
        """Update the state with one record."""
        kind, self.brought = record["kind"], {**record.get("brought", {}), **self.brought}
        if "answers" in record:
            self.used.add((record["answers"], record["line"]))
        if "source" in record:
            self.name, self.source = record["name"], record["source"]
        if "condition" not in record:
            self.notes.append(record)
            return
        self.condition, self.since = record["condition"], record.get("time", "")
        if kind in ("begin", "adopt"):
            self.node, self.registers = record["node"], dict(record["registers"])
            self.program, self.nodes, self.steps = record["program"], record["nodes"], record["steps"]
            for one in self.finished:
                one["node"] = record.get("renamed", {}).get(one["node"], one["node"])
        elif kind == "resume":
            self.decided.append({**record, "after": len(self.finished)})
            self.notes = [note for note in self.notes if note["kind"] != "process"]
        elif kind == "done":
            self.finished.append({key: value for key, value in record.items() if key != "changed"})
            self.node, self.message, self.notes = record["next"], record.get("message", ""), []
            self.registers.update(record["changed"])

    def running_processes(self) -> list[Record]:
        """Return the processes of an interrupted step that are still running."""
        return [note for note in self.notes if note["kind"] == "process" and is_alive(note)]

    def left(self, noun: str = "command") -> str:
        """Return the processes that outlive an interrupted step, and the command that ends them, or ""."""
        led = [note["pid"] for note in self.running_processes()]
        noted = [note["pid"] for note in self.notes if note["kind"] == "process"]
        left = [pid for pid in noted if pid in led or (started_at(pid) is None and has_members(pid))]
        pids, whose = ", ".join(map(str, left)), "or another program's if the machine was restarted"
        group = f"processes of its {noun} still run (group {pids}), {whose}"
        runs = f"its {noun} still runs (pid {pids})" if led else group
        return f"{runs}; wait until the group ends, or stop it: kill -- -{pids.replace(', ', ' -')}" if left else ""


def is_over(state: State) -> bool:
    """Return whether a run is complete, or ended before a step: by a limit, expiry or cancellation."""
    at_step = any(step[0] == state.node for step in state.steps) or not state.finished
    return state.condition == "complete" or (state.condition == "stop" and at_step)


def replay(records: list[Record], path: object, modes: Sequence[str] = ("",)) -> State:
    """Return the state that records describe. Refuse runs of an unknown mode."""
    if records[0].get("format") != FORMAT or records[0].get("mode", "") not in modes:
        raise UsageError(f"{path}: this program does not know this state's format; `reset` archives it")
    try:
        return State(records)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: the journal is damaged: {error}; `reset` archives it") from None


class Store:
    """A state directory by the operator's name. Open nothing here after a chdir; `folder` is absolute."""

    within: Any = None  # the open directory
    is_queued = False  # whether a run may wait for a worker
    is_locked, left = False, ""  # whether this process has the lock, and the text that was there before

    def __init__(self, directory: str, modes: Sequence[str] = ("",), is_named: bool = False) -> None:
        self.directory, self.modes = directory, modes
        self.path, self.folder = os.path.join(directory, "journal"), os.path.join(os.getcwd(), directory)
        self.count, self.size, self._is_named = 0, 0, is_named
        self._open: dict[str, tuple[int, ...]] = {}  # inode and device of files that must not move

    def records(self) -> list[Record]:
        """Read the journal without changing anything."""
        is_here = os.path.join(os.getcwd(), self.directory) == self.folder  # otherwise the run is in its own folder
        refuse_links(self.directory if is_here else self.folder)
        records, self.size = read_journal(self.path if is_here else os.path.join(self.folder, "journal"))
        self.count = len(records)
        return records

    def read(self) -> "State | None":
        """Return the state."""
        state = replay(records, self.path, self.modes) if (records := self.records()) else None
        if state and self.is_queued:  # until a worker shows the step, its wait has not started
            state.since = ""
        return state

    def _opened(self, name: str, flags: int) -> int:
        """Open a file that must not move during the run."""
        file: int = self.within.open(name, flags | os.O_CREAT)
        self._open[os.path.join(self.folder, name)] = os.fstat(file)[1:3]
        return file

    def lock(self) -> None:
        """Lock the directory until this process ends. Refuse if another run has it."""
        if self.is_locked:
            return
        is_ours = OURS in self.directory.split("/") or not os.path.isdir(self.directory)
        self.within = opened_folder(self.directory, self._is_named)
        self.lock_file, self.me = self._opened("lock", os.O_RDWR), this_process().encode(errors="replace")
        self.hold(0.15)  # `status` holds the lock for an instant
        if is_ours:  # keep state out of Git, but leave an existing directory alone
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with suppress(OSError), open(self.within.open(".gitignore", flags), "w") as file:
                file.write("*\n")

    def hold(self, seconds: float) -> None:
        """Get the lock within some seconds, and write there who has it."""
        deadline = time.monotonic() + seconds
        with naming(os.path.join(self.directory, "lock")):
            while not self.is_locked:
                with suppress(BlockingIOError):
                    fcntl.flock(self.lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self.left = os.pread(self.lock_file, 500, 0).decode(errors="replace")
                    os.ftruncate(self.lock_file, 0)
                    self.is_locked = os.pwrite(self.lock_file, self.me, 0) > 0
                    break
                if time.monotonic() > deadline:
                    raise UsageError(f"another process is using {self.directory} ({self.holder()}); wait until it ends")
                time.sleep(0.02)

    def holder(self) -> str:
        """Return who has the lock, as text."""
        with suppress(OSError), open(os.path.join(self.folder, "lock"), "rb", opener=at_once) as lock:
            return f"pid {one_line(lock.read(500).decode(errors='replace')).removeprefix(LENDS)}"
        return ""

    def is_busy(self) -> bool:
        """Return whether a run is using this directory now."""
        try:
            with open(os.path.join(self.directory, "lock"), opener=at_once) as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return isinstance(error, BlockingIOError)
        return False

    def is_there(self) -> bool:
        """Return whether lock and journal are still in place; a command may have removed them."""
        with suppress(OSError):
            return all(os.lstat(path)[1:3] == file for path, file in self._open.items())
        return False

    def open(self) -> None:
        """Open the journal of a locked state for appending, and repair a torn end."""
        self.file = self._opened("journal", os.O_RDWR | os.O_APPEND)
        with naming(self.path):
            os.ftruncate(self.file, self.size)
            if self.size and os.pread(self.file, 1, self.size - 1) != b"\n":
                self.size += os.write(self.file, b"\n")
            os.fsync(self.within.at)

    def append(self, record: Record, sync: bool = True) -> None:
        """Append a record. With `sync` it is on disk when this returns."""
        line = encode({"n": self.count, **record})
        try:
            if os.write(self.file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                getattr(os, "fdatasync", os.fsync)(self.file)
        except OSError as error:
            os.ftruncate(self.file, self.size)  # half a record would be damage
            raise UsageError(f"{self.path}: cannot record: {error.strerror}") from None
        self.count, self.size = self.count + 1, self.size + len(line)

    def archive(self, name: str, beside: Mapping[str, str]) -> str:
        """Archive the journal and its companion files under a new name, and return the path."""
        history = self.within.enter("history").at
        while name in {entry.partition(".")[0] for entry in os.listdir(history)}:
            name += "-2"
        for path, ending in (*beside.items(), ("journal", "")):
            with naming(self.path), suppress(FileNotFoundError):
                os.rename(path, f"{name}.{ending}".rstrip("."), src_dir_fd=self.within.at, dst_dir_fd=history)
        os.fsync(history)
        os.fsync(self.within.at)
        self.count, self.size = 0, 0
        return os.path.join(self.directory, "history", name)


def steps_of(nodes: Table) -> list[list[str]]:
    """Return the steps of a program, as the first record of a run keeps them."""
    doing = {name: node for name, node in nodes.items() if node["task"] not in ("branch", "end")}
    done = {name: digest({key: node[key] for key in {*node}.difference(NOT_DONE)}) for name, node in doing.items()}
    return [[name, node["task"], node.get("title", ""), done[name][:12]] for name, node in doing.items()]


def matched(old: Sequence[Step], new: Sequence[Step]) -> dict[str, str]:
    """Return the new names of the old steps that the new version has."""
    found: dict[str, str] = {}
    for key in FOUND_BY:
        free, taken = dict[Any, list[str]](), {*found.values()}
        for step in new:
            if step[0] not in taken and key(step):
                free.setdefault(tuple(key(step)), []).append(step[0])
        for step in old:
            if step[0] not in found and free.get(tuple(key(step))):
                found[step[0]] = free[tuple(key(step))].pop(0)
    return found


def problem_with(state: State, new: Sequence[Step], names: Mapping[str, str]) -> str:
    """Return why a run cannot continue with these steps, or ""."""
    if state.node not in names:
        return f"the run is at step {state.node}, which this program does not have"
    at, order, old = names[state.node], [step[0] for step in new], {step[0]: step for step in state.steps}
    before, place = list(old)[: list(old).index(state.node)], order.index(at)
    done = {names.get(one["node"]) for one in state.finished if one["node"] in before}
    if again := [name for name in order[place:] if name in done]:
        return f"step {again[0]} has finished, and this version would run it again after step {at}"
    if added := [name for name in order[:place] if name not in names.values()]:
        return f"step {added[0]} is new and comes before step {at}, where the run is"
    if state.condition in ("running", "waiting") and list(old[state.node])[1:] != list(new[place])[1:]:
        return f"step {at} was started, and this version has another kind, title or command for it"
    return ""


def renamed(register: str, state: State, names: Mapping[str, str]) -> str:
    """Return the new name of a counter, which may be that of a step; "" if the step is gone."""
    head, _, rest = register.partition(" ")
    inner = next((name for name in names if name.startswith((f"{head}.", f"{head}/"))), "")
    if head in names or not (rest and (inner or any(head == step[0] for step in state.steps))):
        return f"{names.get(head, head)} {rest}".rstrip()
    depth = inner[len(head) :].replace("/", ".").count(".")
    return f"{names[inner].replace('/', '.').rsplit('.', depth)[0]} {rest}" if inner else ""
