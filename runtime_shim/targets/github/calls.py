"""The calls of a workflow's steps: `CALL` names the call, other variables have its arguments."""

import functools
import os
import re
import select
import shlex
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Callable, ClassVar

from runtime_shim.cli.command_line import OPTIONS, execute, read_words
from runtime_shim.engine.display import Display
from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done, Host
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_INTERRUPTED, EXIT_REFUSED, Table, UsageError
from runtime_shim.engine.session import Extension, Kinds, Session, Subcommands
from runtime_shim.engine.signals import Interrupted
from runtime_shim.engine.state import State, Store, digest
from runtime_shim.io.answers import LARGEST, read_text
from runtime_shim.operator.retry import Retries
from runtime_shim.targets.github.api import APPROVAL, DECISIONS, Decision
from runtime_shim.targets.github.changes import keep_entry
from runtime_shim.targets.github.messages import Runner, annotation, as_block
from runtime_shim.targets.github.script import SHOWN_AS, words_of_places
from runtime_shim.values.secrets import SHORTEST, masking, secret_values

LEAST_LINE = 16  # characters; a shorter line of a secret may be in any file
OWN = ("RDC_SECRETS", "RDC_AGENT", "RDC_AGENTS", "RDC_EXECUTOR")  # for the program
COPIED = 65536
LOOK_AGAIN = 50  # milliseconds between checks whether the step is over
LINGER = 1.0  # seconds that leftover processes may still write


class Relay:
    """Standard output and error of a step as one pipe, which a thread copies to the log between two marks.

    Leftover processes hold the pipe, not the log, so they cannot write to it after the step.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._log, self._over = os.dup(1), threading.Event()
        self._word = f"rdc-{os.urandom(16).hex()}"
        self._from, into = os.pipe()
        os.set_blocking(self._from, False)
        os.dup2(into, 1)
        os.dup2(into, 2)
        os.close(into)
        self._print(f"::stop-commands::{self._word}")
        self._thread = threading.Thread(target=self._copy, daemon=True)
        before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())  # the main thread waits for signals
        self._thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def end(self, *lines: str) -> None:
        """Close the pipe and print lines that may be commands."""
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(self._log, 1)
        os.dup2(self._log, 2)
        self._over.set()
        self._thread.join()
        for line in (f"\n::{self._word}::", *lines):
            self._print(line)

    def _print(self, line: str) -> None:
        _write(self._log, f"{line}\n".encode("utf-8", "replace"))

    def _copy(self) -> None:
        """Copy until the pipe is closed, or the step is over and nothing more arrives."""
        poll, deadline = select.poll(), 0.0
        poll.register(self._from, select.POLLIN)
        while not deadline or time.monotonic() < deadline:
            if self._over.is_set() and not deadline:
                deadline = time.monotonic() + LINGER
            if poll.poll(LOOK_AGAIN):
                data = os.read(self._from, COPIED)
                if not data:
                    break
                _write(self._log, data)
            elif deadline:
                break
        os.close(self._from)


def _write(file: int, data: bytes) -> None:
    """Write all data, even if a write takes only a part."""
    while data:
        data = data[os.write(file, data) :]


class Job:
    """A step's work on the run, whose state is in a directory of the job."""

    def __init__(self, program: Table, kinds: Kinds, host: Host, file: str) -> None:
        self._file = file
        self.program, self.host, self.runner, self.given = program, host, Runner(), CallFacts()
        # A step has only its own secrets; the first step checked all.
        self._own_secrets = {key: value for key, value in program.items() if key != "secrets"}
        self.asked: dict[str, str] = {}
        for name in [name for name in os.environ if name.startswith("RDC_") or name in ("CALL", *SHOWN_AS)]:
            self.asked[name.replace("RDC_", "", 1)] = os.environ[name] if name in OWN else os.environ.pop(name)
        self._found = [kind for kind in kinds if kind.suits(program)]
        self.lines: list[str] = []  # commands to the runner at the end of the step

    # --- Variables and files of a step ---

    def said(self, name: str) -> str:
        """Return a variable of the step, named without `RDC_`."""
        return self.asked.get(name, "")

    def words(self, name: str) -> list[str]:
        """Return the words of a variable, separated by newlines if it has any, otherwise by spaces."""
        text = self.said(name)
        return [word for word in (text.split("\n") if "\n" in text else text.split(" ")) if word]

    def identity(self) -> str:
        """Return the program's hash in journals."""
        kinds = kinds_on_github(self._found, self.given)
        known = tuple(dict.fromkeys([*OPTIONS, *(option for kind in kinds for option in kind.options)]))
        options = read_words([], (), known, [], "")
        vars(options).update(prog=self.host.prog, command="status", known=known, only=None)
        found: str = Session(self.program, options, Display(sys.stderr), kinds, self.host).identity()["program"]
        return found

    def path(self, name: str) -> str:
        """Return the path of a job's file outside the workspace; `rdc` is the state."""
        return os.path.join(os.environ["RUNNER_TEMP"], name)

    def environment(self) -> str:
        """Return the environment whose reviewers approve gates."""
        return self.said("ENVIRONMENT") or "approval"

    def events(self) -> list[str]:
        """Return the events that may have started a run to continue."""
        return self.words("EVENTS") or ["workflow_dispatch"]

    def gates(self) -> set[str]:
        """Return the nodes that reviewers decide; all gates of a specification."""
        if "stepspec" in self.program:
            return {name for name, node in self.program["nodes"].items() if node["task"] == "gate"}
        return set(self.words("GATES"))

    def options(self) -> list[str]:
        """Return the options for the program, one per line; indented lines continue one."""
        found: list[str] = []
        for line in self.said("OPTIONS").rstrip("\n").split("\n"):
            if line.startswith("  ") and found:
                found[-1] += f"\n{line[2:]}"
            elif line:
                found.append(line)
        return found

    def own_files(self) -> list[str]:
        """Return the paths of the program's files in the workspace."""
        folder = os.path.dirname(self._file)
        with suppress(OSError):
            names = [name for name in os.listdir(folder or ".") if name.startswith("rdc_")]
            return [self._file, *(os.path.join(folder, name) for name in names)]
        return [self._file]

    def mark_open(self, code: int) -> None:
        """Note that this job has started or taken over the run."""
        if code != EXIT_REFUSED:
            open(self.path("rdc-open"), "w").close()

    def is_open(self) -> bool:
        """Return whether this job has started or taken over the run."""
        return os.path.exists(self.path("rdc-open"))

    # --- The run ---

    def state(self) -> "State | None":
        """Return the state of the run; None if it has not started."""
        if not os.path.exists(self.path("rdc/journal")):
            return None
        return Store(self.path("rdc"), ("", *(kind.mode for kind in self._found))).read()

    def run(self, *words: str) -> int:
        """Run the program and return its exit code; write errors to the run summary."""
        kinds = kinds_on_github(self._found, self.given)
        try:
            argv = [*words, "--state-dir", self.path("rdc")]
            return execute(self._own_secrets, argv, self.host, Display(sys.stderr), kinds)
        except UsageError as refusal:
            *details, reason = map(str, refusal.args)
        except Interrupted:
            print("rdc: INTERRUPTED", flush=True)
            return EXIT_INTERRUPTED
        except OSError as error:
            details, reason = [], f"{error.filename}: {error.strerror}" if error.filename else str(error)
        texts = (re.sub(r"; set it with --input \S+=VALUE", "", text) for text in (*details, reason))
        self.refuse("rdc", *texts)  # people who start a workflow have inputs instead of options
        return EXIT_REFUSED

    def refuse(self, title: str, *reasons: str) -> None:
        """Write the reasons for an error to the log and the run summary."""
        for reason in reasons:
            self.lines.append(annotation("error", title, reason))
        self.runner.page(as_block("\n".join(reasons)))

    def told(self, state: State, before: int) -> None:
        """Annotate the result of the run, and the steps that failed after the first `before` ones."""
        for record in state.finished[before:]:
            task = self.program["nodes"].get(record["node"], {}).get("task")
            if record["outcome"] in ("fail", "failed") and task not in ("ask", "value") and state.condition != "stop":
                how = f"{record['node']} failed: {record['how']}"
                self.lines.append(annotation("warning", "FAIL", how))
        if state.condition in ("complete", "stop"):
            level = "notice" if state.condition == "complete" else "error"
            word, message = state.condition.upper(), state.message
            if message or word == "STOP":
                self.lines.append(annotation(level, word, message or f"{self.program['name']} has ended"))

    def place_of(self, state: State) -> str:
        """Return the word for the run's place in conditions."""
        if state.condition in ("complete", "stop"):
            return str(state.condition).upper()
        node = self.program["nodes"].get(state.node, {})
        return words_of_places(self.program)[node["step"] if node.get("task") == "stage" else state.node]

    def left_for(self, state: State, places: Sequence[str]) -> str:
        """Return where the run last went from some places; "" if it never left them."""
        left = [one["next"] for one in state.finished if one["node"] in places and one["next"] not in places]
        return words_of_places(self.program)[left[-1]] if left else ""

    def masks(self) -> list[bytes]:
        """Return the secrets and their long lines, which no kept file may have."""
        whole = {value.strip() for value in self._secrets}
        lines = {line.strip() for value in whole for line in value.split("\n")}
        kept = {
            *(each for each in lines if len(each) >= LEAST_LINE),
            *(each for each in whole if len(each) >= SHORTEST),
        }
        return [each.encode("utf-8", "surrogateescape") for each in kept]

    @functools.cached_property
    def mask(self) -> Callable[[str], str]:
        """The function that masks secrets in a text."""
        return masking(self._secrets)

    @property
    def _secrets(self) -> list[str]:
        return secret_values(os.environ.get("RDC_SECRETS", "").split())

    def printed(self, *words: str) -> str:
        """Return the program's standard output."""
        with tempfile.TemporaryFile() as file:
            sys.stdout.flush()
            before = os.dup(1)
            os.dup2(file.fileno(), 1)
            try:
                self.run(*words)
                sys.stdout.flush()
            finally:
                os.dup2(before, 1)
                os.close(before)
            file.seek(0)
            said: bytes = file.read()
            return said.decode("utf-8", "replace")


REVIEWER = "a reviewer"


class CallFacts:
    """Facts of a call beyond the command line."""

    def __init__(self) -> None:
        self.decided: Callable[[], Decision | None] = lambda: None  # a reviewer's next decision
        self.asked: set[str] = set()  # gates reviewed since the job before
        self.entry, self.entry_path = 0, ""
        self.again = False  # whether to repeat a command interrupted in another run
        self.joined: dict[str, list[str | None]] = {}
        self.secrets: dict[str, set[str]] = {}  # by step, if not all steps get the same


def given_to(session: Session) -> CallFacts:
    """Return the facts of this call."""
    return next(one.facts_of_call for one in session.extensions if isinstance(one, GithubCaller))


def do_entry(session: Session) -> int:
    """Call the agent of one entry of a parallel step, and keep its answer in a file."""
    places, session.options.command = session.options.PLACE, "resume"
    session.alone()
    session.take(session.read())
    session.store.open()
    name, given = session.state.node, given_to(session)
    node, performer = session.program["nodes"][name], session.performers.get(name)
    say = getattr(performer, "say", None)
    if name not in places or say is None or not 0 <= given.entry < len(node["entries"]):
        raise UsageError(f"the run is at {name}, which is not the step of this job")
    (answer,) = say(name, node, [given.entry])
    keep_entry(given.entry_path, name, given.entry, session.mask(answer) if answer else None)
    return EXIT_COMPLETE


class GithubCaller(Extension):
    """Runs whose steps are steps of a workflow."""

    facts_of_call: CallFacts

    commands: ClassVar[Subcommands] = {"entry": ("call the agent of an entry", do_entry)}
    options = (("entry", "PLACE", "...", "the step"),)

    def read(self, state: State) -> None:
        """Adapt a state to this job: processes of other jobs are not here."""
        state.begin = {**state.begin, "cwd": os.getcwd()}
        state.notes = [note for note in state.notes if note["kind"] != "process"]
        if path := self.session.options.answers:  # an earlier run had another file
            now = digest(read_text(path, LARGEST))
            state.used = {pair for pair in state.used if pair[0] == now}

    def scope(self) -> str:
        """Return the run of the workflow, which has its own input `answers`."""
        return f"{os.environ['GITHUB_RUN_ID']}/{os.environ.get('GITHUB_RUN_ATTEMPT', '1')}:"

    def resumed(self) -> None:
        """Repeat an interrupted command if requested, and take the reviewers' decisions."""
        session, given = self.session, self.facts_of_call
        if given.again:
            session.rest()
        while session.state.condition == "waiting" and session.state.node in given.asked:
            decision = given.decided()
            if decision is None:
                break
            self._settle(session.state.node, decision)

    def _settle(self, name: str, decision: Decision) -> None:
        words = DECISIONS.get(self.session.program["nodes"][name]["task"], ("pass", "fail"))
        note = {"by": decision.by or REVIEWER, APPROVAL: os.environ["GITHUB_RUN_ID"]}
        note.update({"note": decision.note} if decision.note else {})
        outcome = words[decision.word == "rejected"]
        self.session.settle(name, Done(outcome, "as reviewed on GitHub", note), 0.0, begins=False)

    def record(self, record: Record) -> Record:
        """Give a run GitHub's number as its id, which stays when another run continues it."""
        record = {key: record[key] for key in record if key != "notify"}  # a later job runs no command of a journal
        is_plain = record.get("kind") == "begin" and "stepspec" not in self.session.program
        return {**record, "run": os.environ["GITHUB_RUN_ID"]} if is_plain else record

    def before_step(self, name: str) -> None:
        """Take the answers of a matrix, and hide the secrets of other steps in a loop."""
        session, given = self.session, self.facts_of_call
        for index, answer in enumerate(given.joined.pop(name, ())):
            session.record({"kind": "entry", "entry": index, "answer": answer})
        if name in given.secrets:
            performer: Any = session.performers[name]
            others = {each.encode() for each in set().union(*given.secrets.values()) - given.secrets[name]}
            kept = {key: value for key, value in os.environb.items() if key not in others}
            performer.common = {**kept, b"RDC_RUN_ID": session.state.begin["run"].encode()}

    def call(self, words: tuple[str, ...]) -> str:
        """Return the command that continues the run in another run of the workflow."""
        answers = f" -f answers={shlex.quote(' '.join(words[1:]))}" if words[0] == "answer" else ""
        return f"gh workflow run … -f resume={os.environ['GITHUB_RUN_ID']}{answers}"


def kinds_on_github(found: Kinds, given: CallFacts) -> list[type[Extension]]:
    """Return the extensions of an edition for GitHub."""
    of_resume = [option for kind in found for option in kind.options if "resume" in option[0].split()]
    options = dict.fromkeys([*GithubCaller.options, *(("entry", *option[1:]) for option in of_resume)])
    reopens = any(kind.reopens for kind in found)
    found = [kind for kind in found if reopens or kind is not Retries]  # only a specification continues after STOP
    return [*found, type("GithubCaller", (GithubCaller,), {"facts_of_call": given, "options": tuple(options)})]
