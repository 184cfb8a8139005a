# --- How often agents and tools are called in a run, over all resumes, and how many calls of agents it may make.
AGENT_CALL = "agent "  # begins what is counted of an agent: with the name of its step or entry
REMINDED = (
    *("--agent", "--agent-for", "--tool", "--agent-model", "--agent-timeout", "--agent-retries"),
    *("--mock", "--out"),
)

def calls_of(notes):
    return collections.Counter(note["call"] for note in notes if note["kind"] == "call")

def tally(state):
    found = calls_of(state.notes)
    for record in state.finished:
        found.update(record.get("calls", {}))
    return found

def agents_in(calls):
    return sum(number for name, number in calls.items() if name.startswith(AGENT_CALL))

def spent(name, budget):
    return f"{name}: the budget of {budget} calls of agents is spent; `resume --agent-calls NUMBER` goes on"

class Budget(OfMore):
    options = (("run resume", "--agent-calls", "NUMBER", "how many calls of agents the whole run may make"),)
    def record(self, record):
        calls = calls_of(self.session.state.notes) if record.get("kind") == "done" else {}
        return {**record, "calls": dict(calls)} if calls else record
    def stand(self, move, before, stand):
        budget = agreed(before).get("agent_calls") if before is not None else None
        node = self.session.program["nodes"][move.node]
        due = len(node["entries"]) if node["task"] == "parallel" else node["task"] == "agent"
        if before is None or budget is None or not due or agents_in(tally(before)) + due <= budget:
            return stand
        return {"condition": "stop", "message": spent(move.node, budget), "spent": True}
    def resumed(self):
        state = self.session.state
        is_spent = state.condition == "stop" and state.finished and state.finished[-1].get("spent")
        if is_spent and agents_in(tally(state)) < agreed(state)["agent_calls"]:
            self.session.record({"kind": "again", "condition": "ready"})
    def agrees(self, _before):
        given = self.session.options.agent_calls
        return {"agent_calls": number_of("--agent-calls", given, 1) if given else None}

class Reminder(OfMore):
    def agrees(self, _before):
        options = self.session.options
        known = {name for _, name, _, _ in options.known}
        found = [name for name in REMINDED if name in known and getattr(options, name[2:].replace("-", "_"))]
        return {"given": found or None}
    def hint(self):
        given = agreed(self.session.state).get("given", ())
        return f"   (with {', '.join(given)}, as before)" if given else ""

