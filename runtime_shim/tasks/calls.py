"""Calls of agents and tools: counts, limits, retries, and answers by a person."""

import collections
import time

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.state import State
from runtime_shim.engine.status import answering
from runtime_shim.engine.texts import clean, one_line
from runtime_shim.engine.walk import Move, attempt_of
from runtime_shim.io.terminal import asked
from runtime_shim.tasks.ask import Asking
from runtime_shim.tasks.exchange import Answered, Calls, Prompting, answer_of
from runtime_shim.tasks.replies import ANY
from runtime_shim.values.settings import AgentEdition, agreed

AGENT_CALL = "agent "  # prefix of keys: the name of a step or entry follows
FIRST_PAUSE = 2  # seconds; doubles each time


def calls_of(notes: list[Record]) -> collections.Counter[str]:
    """Return how often the current step has made each call."""
    return collections.Counter(note["call"] for note in notes if note["kind"] == "call")


def tally(state: State) -> collections.Counter[str]:
    """Return how often a run has made each call, including before resumes."""
    return sum((collections.Counter(record.get("calls", {})) for record in state.finished), calls_of(state.notes))


def may_call(state: State, more: int) -> bool:
    """Return whether a run may call agents so many more times."""
    made = sum(number for name, number in tally(state).items() if name.startswith(AGENT_CALL))
    budget = agreed(state).get("agent_calls")
    return bool(budget is None or made + more <= budget)


def spent(name: str, state: State) -> str:
    """Return the message for a step that has no agent calls left."""
    budget = agreed(state)["agent_calls"]
    return f"{name}: the budget of {budget} agent calls is spent; raise it with `resume --agent-calls NUMBER`"


class Budget(AgentEdition):
    """Counts calls, and stops a run that would exceed its budget."""

    options = (("run resume", "--agent-calls", "NUMBER", "limit the agent calls of the whole run"),)

    def record(self, record: Record) -> Record:
        """Add a step's calls to its record."""
        calls = calls_of(self.session.state.notes) if record.get("kind") == "done" else {}
        return {**record, "calls": dict(calls)} if calls else record

    def condition_after(self, move: Move, before: "State | None", stand: Record) -> Record:
        """Stop a run that has no calls left."""
        node = self.session.program["nodes"][move.node]
        due = len(node["entries"]) if node["task"] == "parallel" else node["task"] == "agent"
        if before is None or not due or may_call(before, due):
            return stand
        return {"condition": "stop", "message": self.session.through("worded", spent(move.node, before)), "spent": True}

    def again(self, state: State) -> list[tuple[str, str]]:
        """Return the command that continues a run that spent its budget."""
        more = str(2 * agreed(state).get("agent_calls", 0) + 1)
        is_spent = state.condition == "stop" and state.finished and state.finished[-1].get("spent")
        return [("to allow more calls", self.session.call("resume", "--agent-calls", more))] if is_spent else []

    def resumed(self) -> None:
        """Reopen a run that spent its budget, if it has a larger one now."""
        state = self.session.state
        if state.condition == "stop" and state.finished and state.finished[-1].get("spent") and may_call(state, 1):
            self.session.record({"kind": "again", "condition": "ready"})


class Caller(Asking, Prompting):
    """Runs steps that an agent or a tool answers, or a person instead."""

    recovers = True
    asks = False
    retries = limit = jobs = 0  # of a call: retries, seconds instead of the step's; most calls at a time, 0 for all

    def converse(self, node: Table, calls: Calls) -> list[Answered]:
        """Call commands at the same time, retry those without an answer, and return all answers."""
        found: dict[int, Answered] = {}
        while True:
            session = self.session
            tried = [note["until"] for note in session.state.notes if note["kind"] == "tried"]
            left = min(tried[-1] - time.time(), FIRST_PAUSE * 2.0 ** len(tried)) if tried else 0.0
            if left > 0:
                with session.signals:
                    time.sleep(left)
            session.check_stop()
            if session.state.condition == "ready":
                session.record({"kind": "again", "condition": "running"})
            due = [index for index in range(len(calls)) if index not in found or self._failed(found[index])]
            self.count(calls, due)
            found.update(zip(due, self.call(node, [calls[index] for index in due])))
            failed = [index for index in due if self._failed(found[index])]
            if not failed or self._tries() >= self.retries or not self._may_call(len(failed)):
                return [found[index] for index in range(len(calls))]
            self._try_again(", ".join(f"{calls[at][0]}: {found[at].trouble or 'an empty answer'}" for at in failed))

    def call(self, node: Table, calls: Calls) -> list[Answered]:
        """Call commands once, without retries."""
        node, most = {**node, "timeout": self.limit} if self.limit else node, self.jobs or len(calls) or 1
        pieces = [calls[place : place + most] for place in range(0, len(calls), most)]
        return [answered for piece in pieces for answered in super(Caller, self).converse(node, piece)]

    def key(self, name: str, what: Table) -> str:
        """Return the key that counts a call."""
        return f"tool {what['connection']}/{what['tool']}" if self.noun == "tool" else AGENT_CALL + name

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Add the number of the attempt, including retries."""
        node, now = self.session.program["nodes"][self.session.state.node], self.session.state.registers
        return {**super().variables(name, what), "RDC_ATTEMPT": str(attempt_of(node, now) + self._tries())}

    def _failed(self, answered: Answered) -> bool:
        return bool(answered.trouble) if self.noun == "tool" else not answer_of(answered)

    def _tries(self) -> int:
        return sum(note["kind"] == "tried" for note in self.session.state.notes)

    def _may_call(self, number: int) -> bool:
        return self.noun == "tool" or may_call(self.session.state, number)

    def count(self, calls: Calls, due: list[int]) -> None:
        """Record the due calls before making them."""
        session = self.session
        if not self._may_call(len(due)):
            session.rest()
            raise UsageError(spent(session.state.node, session.state))
        for index in due:
            name, what, _, _ = calls[index]
            session.record({"kind": "call", "call": self.key(name, what)}, sync=index == due[-1])

    def _try_again(self, trouble: str) -> None:
        """Record that a call failed and when to retry it. An interruption until then needs no decision."""
        session, seconds = self.session, FIRST_PAUSE * 2 ** self._tries()
        session.display.line(f"    {one_line(trouble)}; trying again in {duration(seconds)}")
        session.rest()
        session.record({"kind": "tried", "how": trouble, "until": time.time() + seconds})

    def by_hand(self, step: str, prompts: dict[str, str]) -> Done:
        """Let a person answer a step or its entries without a command, now at the terminal or later."""
        session = self.session
        session.record({"kind": "wait", "condition": "waiting"})
        for name, prompt in prompts.items():
            is_entry = name != step
            lines = clean(prompt).splitlines()
            for line in [f"{name}:", *(f"    {one}" for one in lines)] if is_entry else lines:
                session.display.line(f"    {line}".rstrip())
            label = name if is_entry else session.label(step)
            done = self._typed(name, f"{label}: type your answer, then Ctrl-D\n") if session.is_interactive else None
            if done is not None:
                return done
        who, *option = self.remedy(session.program["nodes"][step])
        raise Waiting(
            f"to answer: {answering(session, self.unanswered(step)[0], '-')}",
            f"to continue: {session.call('resume')}",
            f"to call {who}: {session.call('resume', *option)}",
        )

    def _typed(self, name: str, prompt: str) -> "Done | None":
        """Ask until a person types a valid answer; return None if they leave it for later."""
        return asked(self.session, prompt, lambda reply: self.given(name, reply, "answered here"), lambda _line: True)

    def unanswered(self, step: str) -> list[str]:
        """Return the names that still need an answer."""
        return [step]

    def remedy(self, _node: Table) -> tuple[str, str, str]:
        """Return who could answer a step, the option that sets the command, and the option's value."""
        return "an agent", "--agent", "COMMAND"

    def preview(self, name: str, _node: Table) -> Done:
        """Assume the answer in the file, or the first ordinary word."""
        return self.from_file(name) or Done(self.first_word(name), "assumed")

    def first_word(self, name: str) -> str:
        """Return the first ordinary word of a step."""
        node: Table = self.session.program["nodes"][name]
        words: list[str] = node.get("words", ["pass"])
        return next(word for word in words if word not in (node.get("excused") or node.get("unanimous") or ()))

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return `-`, for an answer on standard input."""
        return ANY
