"""The runs in a folder, read from their state directories. These files are untrusted."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from backends.base import MARK, OutputFile, VerifyStatus
from backends.registry import load
from compiler.frontends import endings
from compiler.frontends.common.names import name_of
from compiler.project.project import is_root, open_project, project_around
from compiler.text.source import sha256_of, without_ending
from rdc.runs.model import Run, finished_step, options_for, with_facts
from rdc.runs.process import ask_program, run_process
from rdc.runs.stored import stored_run
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.journal import picked
from runtime_shim.engine.private import is_trusted
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.state import OURS, Store, utc_now
from runtime_shim.operator.history import place_of

_TELLING = frozenset(name for name, one in EDITIONS.items() if "operator.current" in one.modules)
"""The editions whose programs show the current step."""

NEAR = 2  # how many folders below this one to look for runs outside of a project


def runs_in(folder: str) -> list[Run]:
    """Return every run of a folder's project and of the folder, by name.

    Outside of a project, documents keep their runs in their own folders, so the nearest subfolders count too.
    """
    here = os.path.realpath(folder)
    root = project_around(here).root
    near = [os.path.relpath(root, here), os.curdir] if is_root(root) else _below(folder, os.curdir, NEAR)
    return [run for each in dict.fromkeys(map(os.path.normpath, near)) for run in _States(folder, each).runs()]


def run_with(facts: Mapping[str, Any], document: str, place: Sequence[str], folder: str) -> Run:
    """Return the run of a document with the facts that `rdc run FILE status --json` shows in a folder.

    If no run has started, its state is `none`. `place` are the options that choose the run.
    """
    home = os.path.relpath(open_project(os.path.join(folder, document)).root, os.path.realpath(folder))
    states = _States(folder, os.path.normpath(home))
    option, *values = place or [""]
    label = f"@{values[0]}" if option == "--as" else ""
    directory = values[0] if option == "--state-dir" else f"{states.ours}/{facts['name']}{label}"
    run = states.unreadable(os.path.basename(directory))
    run = replace(run, directory=os.path.abspath(os.path.join(folder, directory)))
    return replace(with_facts(run, facts), document=document, place=tuple(place))


def _below(base: str, folder: str, depth: int) -> Iterator[str]:
    """Yield a folder and its visible subfolders, to some depth, as paths from the base."""
    yield folder
    with suppress(OSError), os.scandir(os.path.join(base, folder)) as entries:
        names = sorted(one.name for one in entries if one.is_dir(follow_symlinks=False) and one.name[0] != ".")
        for name in names if depth else ():
            yield from _below(base, os.path.join(folder, name), depth - 1)


class _Program(OutputFile, frozen=True):
    """A Python program, and the files beside it."""

    def beside(self, path: str, _home: str = "") -> OutputFile:
        """Read the file at a path from this one."""
        place = os.path.join(os.path.dirname(self.path), path)
        text = _text(place)
        return _Program(place, text, sha256_of(text), "" if text else "it is missing")


class _States(Struct, frozen=True):
    """The state directories in a folder: `home` is its path from `base`, where commands and messages start."""

    base: str
    home: str

    @property
    def ours(self) -> str:
        """The parent of the state directories, as a path from the base."""
        return os.path.normpath(os.path.join(self.home, OURS))

    def at(self, path: str) -> str:
        """Return the path from the current folder."""
        return os.path.normpath(os.path.join(self.base, path))

    def runs(self) -> Iterator[Run]:
        """Yield the runs."""
        ours = self.at(self.ours)
        if os.path.islink(ours) or not os.path.isdir(ours):
            return
        with os.scandir(ours) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        for name in names:
            path = f"{ours}/{name}/journal"
            if os.path.lexists(path) and (os.lstat(path).st_size or not os.path.isfile(path)):  # else a full disk
                yield self._run(name)
            elif name.endswith(".make") and os.path.lexists(f"{ours}/{name}/log"):
                yield self.of_make(name)

    def unreadable(self, name: str) -> Run:
        """Return a run that can't be read."""
        shown = os.path.normpath(os.path.join(self.home, name)) if self.ours[:2] != ".." else name
        return Run(shown, self.base, os.path.abspath(f"{self.at(self.ours)}/{name}"), "unreadable")

    def _run(self, name: str) -> Run:
        run, path = self.unreadable(name), f"{self.at(self.ours)}/{name}/journal"
        try:
            return self._of_program(run, name)
        except OSError as error:
            return replace(run, message=f"{path}: {error.strerror}")
        except UsageError as error:
            return replace(run, message=str(error.args[-1]))
        except IndexError:
            return replace(run, message=f"{path}: the journal is damaged")

    def _of_program(self, run: Run, name: str) -> Run:
        directory = f"{self.at(self.ours)}/{name}"
        store = Store(directory)
        is_busy = store.is_busy()
        word, _, state = place_of(f"{directory}/journal", known_modes(), is_busy)
        facts = {"id": str(state.begin.get("run", "")), "source": str(state.source), "state": word.lower()}
        facts.update(step="" if word in ("COMPLETE", "STOP") else state.node, message=state.message)
        finished = tuple(finished_step(one, one["node"]) for one in state.finished)
        run = replace(run, **facts, holder=store.holder() if is_busy else "", finished=finished)
        edition, folder = str(state.begin.get("edition", "")), os.path.realpath(self.at(self.home))
        root = project_around(folder).root
        place = options_for(f"{self.ours}/{name}", state.name)
        # A compiled program has its state where it was started, and a document where the root was then.
        homes = (root, folder) if edition else (folder, root)
        files = [os.path.join(each, run.source) for each in homes]
        file = next(filter(os.path.isfile, files), files[0])
        if os.path.isfile(file):
            root = open_project(file).root  # that of a folder below, if its project is newer than the run
            own = place if root == folder else options_for(f"{self.ours}/{name}", "")
            run = replace(run, document=os.path.relpath(file, os.path.abspath(self.base)), place=own)
        if edition.partition(" ")[0] in _TELLING and (shown := self._told(file, name, place)):
            return with_facts(run, shown)
        if not run.document:
            return replace(run, next=self._script(run.source, place))
        return stored_run(run, root) or self._of_document(run)

    def _of_document(self, run: Run) -> Run:
        """Compile a run's document in a separate process: modules that the program needs stay loaded."""
        ended = run_process([run.document, "status", *run.place, "--json"], self.base)
        if ended.code == 0:
            return with_facts(run, json.loads(ended.output))
        # The document has changed, or needs options. This command shows the problem.
        words = ["run", "--", run.document] if run.document.startswith("-") else ["run", run.document]
        return replace(run, next=(shlex.join(["rdc", *words, "status", *run.place]),))

    def _script(self, source: str, place: Sequence[str]) -> tuple[str, ...]:
        """Return the command of a program whose document is missing, if it is in this folder."""
        script = without_ending(Path(source).name, endings()) + ".py"
        is_ours = self.ours == OURS and MARK in _text(self.at(script))
        return (shlex.join(["python3", script, "status", *place]),) if is_ours else ()

    def _told(self, file: str, name: str, place: Sequence[str]) -> Mapping[str, Any] | None:
        """Return the status that the program of a run prints: it is beside the document, or where the run started."""
        # Only a program of this version is called, with nothing but the document's calls and the unchanged runtime.
        script = f"{without_ending(os.path.basename(file), endings())}.py"
        folders = (os.path.relpath(os.path.dirname(file), os.path.abspath(self.base)), self.home)
        own = place if self.ours == OURS else options_for(f"{self.ours}/{name}", "")
        for path in dict.fromkeys(os.path.normpath(os.path.join(folder, script)) for folder in folders):
            program = _Program(self.at(path), _text(self.at(path)))
            if program.text and load("python").verify_output(program, "").status == VerifyStatus.SOURCE_MISSING:
                ended = ask_program([path, "status", *own, "--json"], self.base)
                if ended.code == 0 and (shown := json.loads(ended.output)).get("same_program"):
                    return dict(shown)
        return None

    def of_make(self, name: str) -> Run:
        """Read the state of a Makefile, and the Makefile beside it. make is not called."""
        run, folder = self.unreadable(name), f"{self.at(self.ours)}/{name}"
        words = dict(line.partition(" ")[::2] for line in _text(f"{folder}/run").splitlines())
        called, text = self._makefile(f"{self.ours}/{name}")
        if not words:
            _, _, end = _text(f"{folder}/log").rpartition(", ")
            word, _, message = end.strip().partition(" ")
            offered = ("retry", "run") if _text(f"{folder}/failed") else ("run",)
            calls = tuple(shlex.join([*called, each]) for each in offered if called and word == "STOP")
            ended = replace(run, state=word.lower(), message=message, next=calls)
            return ended if word in ("COMPLETE", "STOP") else run
        step, holder = words.get("at", ""), _holder(folder)
        asks = re.search(rf"^RDC_QUESTIONS :=(?:.* )?{re.escape(step)}(?: .*)?$", text, re.MULTILINE)
        title = re.search(rf"^title-{re.escape(step)} = \S+ ?(.*)$", text, re.MULTILINE)
        asked = re.search(rf"^define do-{re.escape(step)}\n\s*(\S.*)$", text, re.MULTILINE)
        state = "running" if holder else "waiting" if asks else "interrupted"
        question = ": ".join(filter(None, (part[1].replace("$$", "$") for part in (title, asked) if part and asks)))
        is_shown = asks and _text(f"{folder}/pid").strip() == "shown"  # before, it takes no reply
        following = [*([f"STEP={step}", f"REPLY={word}"] for word in ("yes", "no") if is_shown), ["resume"]]
        calls = tuple(shlex.join([*called, *each]) for each in following if called and not holder)
        return replace(run, state=state, step=step, question=question, next=calls, holder=holder)

    def _makefile(self, directory: str) -> tuple[list[str], str]:
        """Return the call of the Makefile with this state directory, and its text."""
        usual = ("GNUmakefile", "makefile", "Makefile")
        for path in (*usual, *sorted(path.name for path in Path(self.base).glob("*.mk"))):
            text = _text(self.at(path))
            if MARK in text and re.search(rf"^RDC_STATE := {re.escape(directory)}$", text, re.MULTILINE):
                return ["make"] if path in usual else ["make", "-f", path], text
        return [], ""


def make_run(directory: str) -> Run:
    """Return the run of a native Makefile by its state directory. make is not called."""
    ours, name = os.path.split(os.path.relpath(directory))
    return _States(os.curdir, os.path.dirname(ours) or os.curdir).of_make(name)


def elsewhere(name: str, root: str, document: str) -> tuple[list[str], list[str]]:
    """Return the state directories of a run outside of its project's root, and the folders that were searched.

    A compiled program has its state where it was started, and a document where the root was then.
    """
    below = [os.path.normpath(os.path.join(root, each)) for each in _below(root, os.curdir, NEAR)]
    near = [os.path.realpath(os.curdir), os.path.dirname(os.path.realpath(document)), *below]
    folders = [folder for folder in dict.fromkeys(near) if folder != root]
    found = [f"{folder}/{OURS}/{each}" for folder in folders for each in sorted({name, _name_from(folder, document)})]
    ours = [each for each in found if os.path.isfile(f"{each}/journal") and is_trusted(os.lstat(each))]
    return [os.path.relpath(each) for each in ours], folders


def _name_from(folder: str, document: str) -> str:
    """Return the name of a document's run if a folder was the root of its project."""
    path = os.path.relpath(os.path.realpath(document), folder)
    return name_of(path, endings(), lambda name: os.path.exists(os.path.join(folder, name)))


def take_moved(directory: str, identity: Callable[[], Table]) -> None:
    """Rename the states of the same program, and record it, if its document no longer exists: it was moved here."""
    ours, name = os.path.dirname(directory), os.path.basename(directory).partition("@")[0]
    if os.path.lexists(directory) or not os.path.isdir(ours):
        return
    for each in sorted(os.listdir(ours)):
        _, sign, label = each.partition("@")
        store, place = Store(f"{ours}/{each}", known_modes()), f"{ours}/{name}{sign}{label}"
        try:
            state = store.read()
        except (UsageError, OSError, IndexError):
            continue
        if state is None or os.path.lexists(place) or store.is_busy():
            continue
        is_gone = not Path(os.path.dirname(ours), state.source).exists()
        is_cut_off = state.name == name and any(note["kind"] == "moved" for note in state.notes)
        if (is_gone or is_cut_off) and state.program == identity()["program"]:
            store.lock()
            store.records()
            store.open()
            store.append({"kind": "moved", "time": utc_now(), **picked(identity(), ("name", "source"))})
            os.rename(store.directory, place)
            os.close(store.lock_file)  # the command takes it next
            sys.stderr.write(f"rdc: {state.source!a} was moved: {store.directory} is now {place}\n")


def known_modes() -> list[str]:
    """Return the modes of runs that programs know."""
    return [kind.mode for edition in EDITIONS.values() for kind in edition.kinds()]


def _text(path: str) -> str:
    """Return the text of a file, or ""."""
    return Path(path).read_text(encoding="utf-8", errors="replace") if Path(path).is_file() else ""


def _holder(folder: str) -> str:
    """Return the process that has a Makefile's run, or "". Locks are links to it or to a process that is gone."""
    for lock in Path(folder).glob("lock*"):
        with suppress(OSError, ValueError, OverflowError):
            pid, _, host = os.readlink(lock).partition("@")
            with suppress(PermissionError):
                os.kill(int(pid), 0)
            return f"pid {pid} on {host}"
    return ""
