"""What the program does differently on GitHub: an extension of its runs, and secrets that only some steps have."""

import os
import shlex
from collections.abc import Sequence
from typing import Any, Callable, Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Done, Extension, Perform
from runtime_shim.engine.program import EXIT_COMPLETE, RefusedError
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State, digest
from runtime_shim.targets.github.entries import keep_entry
from runtime_shim.targets.github.gates import APPROVAL, DECISIONS, Decision
from runtime_shim.tasks.answers import LARGEST, read_text

REVIEWER = "a reviewer"


class CallFacts:
    """What a call says to a run of the program beyond its command line."""

    def __init__(self) -> None:
        self.decided: Callable[[], Optional[Decision]] = lambda: None  # what a reviewer has decided next
        self.asked: set[str] = set()  # the gates that reviewers were asked about since the job before
        self.entry, self.entry_path = 0, ""
        self.again = False  # whether a command is done again that was interrupted in another run
        self.joined: dict[str, list[Optional[str]]] = {}
        self.secrets: dict[str, set[str]] = {}  # those that a step gets, where not all in its step of the workflow


def given_to(session: Session) -> CallFacts:
    """Return what this call says."""
    return next(one.facts_of_call for one in session.extensions if isinstance(one, OfGithub))


def do_entry(session: Session) -> int:
    """Call the agent of one entry of a parallel step, and keep what it says in a file."""
    places, session.options.command = session.options.PLACE, "resume"
    session.alone()
    session.take(session.read())
    session.store.open()
    name, given = session.state.node, given_to(session)
    node, performer = session.program["nodes"][name], session.performers.get(name)
    say = getattr(performer, "say", None)
    if name not in places or say is None or not 0 <= given.entry < len(node["entries"]):
        raise RefusedError(f"the run is at {name}, which is not the step of this job")
    (answer,) = say(name, node, [given.entry])
    keep_entry(given.entry_path, name, given.entry, session.mask(answer) if answer else None)
    return EXIT_COMPLETE


class OfGithub(Extension):
    """Runs whose steps are steps of a workflow."""

    facts_of_call: CallFacts

    commands = {
        "entry": ("call the agent of an entry", do_entry),
    }
    options = (("entry", "PLACE", "...", "the step"),)

    def read(self, state: State) -> None:
        """Let a run go on in the workspace of this job; processes of another one are not here."""
        state.begin = {**state.begin, "cwd": os.getcwd()}
        state.notes = [note for note in state.notes if note["kind"] != "process"]
        if path := self.session.options.answers:  # those of an earlier run were another file
            now = digest(read_text(path, LARGEST))
            state.used = {pair for pair in state.used if pair[0] == now}

    def resumed(self) -> None:
        """Have a command that was interrupted done again, if somebody has asked for that; take what others decided."""
        session, given = self.session, self.facts_of_call
        if given.again:
            session.rest()
        while session.state.condition == "waiting" and session.state.node in given.asked:
            decision = given.decided()
            if decision is None:
                break
            self._settle(session.state.node, decision)

    def _settle(self, name: str, decision: Decision) -> None:
        """Record what a reviewer has decided about a gate."""
        words = DECISIONS.get(self.session.program["nodes"][name]["task"], ("pass", "fail"))
        note = {"by": decision.by or REVIEWER, APPROVAL: os.environ["GITHUB_RUN_ID"]}
        note.update({"note": decision.note} if decision.note else {})
        outcome = words[decision.word == "rejected"]
        self.session.settle(name, Done(outcome, "as reviewed on GitHub", note), 0.0, begins=False)

    def record(self, record: Record) -> Record:
        """Call a run as GitHub does: by its number, which stays when another run continues it."""
        is_plain = record.get("kind") == "begin" and "contract" not in self.session.program
        return {**record, "run": os.environ["GITHUB_RUN_ID"]} if is_plain else record

    def before_step(self, name: str) -> Optional[Perform]:
        """Take what the entries of a matrix have said; hold back the secrets of other steps in a loop."""
        session, given = self.session, self.facts_of_call
        for index, answer in enumerate(given.joined.pop(name, ())):
            session.record({"kind": "entry", "entry": index, "answer": answer})
        if name in given.secrets:
            performer: Any = session.performers[name]
            others = {each.encode() for each in set().union(*given.secrets.values()) - given.secrets[name]}
            kept = {key: value for key, value in os.environb.items() if key not in others}
            performer.common = {**kept, b"RDC_RUN_ID": session.state.begin["run"].encode()}
        return None

    def call(self, words: tuple[str, ...]) -> str:
        """Say how an operator goes on: by another run of the workflow."""
        answers = f" -f answers={shlex.quote(' '.join(words[1:]))}" if words[0] == "answer" else ""
        return f"gh workflow run … -f resume={os.environ['GITHUB_RUN_ID']}{answers}"


def kinds_on_github(found: Sequence["type[Extension]"], given: CallFacts) -> list["type[Extension]"]:
    """Return the extensions of an edition as they are on GitHub."""
    of_resume = [option for kind in found for option in kind.options if "resume" in option[0].split()]
    options = dict.fromkeys([*OfGithub.options, *(("entry", *option[1:]) for option in of_resume)])
    return [*found, type("OfGithub", (OfGithub,), {"facts_of_call": given, "options": tuple(options)})]
