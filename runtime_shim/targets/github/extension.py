"""The program's extension for GitHub, and secrets that only some steps get."""

import os
import shlex
from typing import Any, Callable, ClassVar

from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import EXIT_COMPLETE, UsageError
from runtime_shim.engine.session import Extension, Kinds, Session, Subcommands
from runtime_shim.engine.state import State, digest
from runtime_shim.io.answers import LARGEST, read_text
from runtime_shim.targets.github.api import APPROVAL, DECISIONS, Decision
from runtime_shim.targets.github.entries import keep_entry

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
        """Record a reviewer's decision about a gate."""
        words = DECISIONS.get(self.session.program["nodes"][name]["task"], ("pass", "fail"))
        note = {"by": decision.by or REVIEWER, APPROVAL: os.environ["GITHUB_RUN_ID"]}
        note.update({"note": decision.note} if decision.note else {})
        outcome = words[decision.word == "rejected"]
        self.session.settle(name, Done(outcome, "as reviewed on GitHub", note), 0.0, begins=False)

    def record(self, record: Record) -> Record:
        """Give a run GitHub's number as its id, which stays when another run continues it."""
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
    return [*found, type("GithubCaller", (GithubCaller,), {"facts_of_call": given, "options": tuple(options)})]
