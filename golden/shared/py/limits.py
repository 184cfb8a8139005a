# --- How often a run may do steps (I24), and how long it waits before further attempts (I22).
LONGEST_PAUSE = 10**8  # seconds: as good as for ever, and no overflow

def counts(program, name):
    return bool(program["nodes"].get(name, {}).get("task") != "gate")

class Limit(Extension):
    @staticmethod
    def suits(program):
        return "limit" in program
    def stand(self, move, before, stand):
        program = self.session.program
        if before is None or not counts(program, move.node):
            return stand
        done = [*(record["node"] for record in before.finished if record["outcome"] != "goto"), before.node]
        others = [found for allowed in self.session.at("steps_allowed") if (found := allowed(before)) is not None]
        limit = others[-1] if others else program["limit"]
        if not limit or sum(counts(program, name) for name in done) < limit:
            return stand
        message = f"{move.node}: the limit of {limit} steps was reached"
        return {"condition": "stop", "message": message, "limited": limit}

def pause_of(node, registers):
    further = attempt_of(node, registers) - 2
    delay, backoff = node.get("delay", 0), node.get("backoff", 1)
    if further < 0 or not delay:
        return 0
    return int(min(delay * backoff ** min(further, 64), LONGEST_PAUSE))

class Pauses(Extension):
    @staticmethod
    def suits(program):
        return any("delay" in node for node in program["nodes"].values())
    def stand(self, move, _before, stand):
        seconds = pause_of(self.session.program["nodes"][move.node], move.registers)
        if not seconds:
            return stand
        condition = "ready" if stand["condition"] == "running" else stand["condition"]
        return {**stand, "condition": condition, "due": time.time() + seconds}
    def before_step(self, name):
        session = self.session
        last = session.state.finished[-1] if session.state.finished else {}
        whole = pause_of(session.program["nodes"][name], session.state.registers)
        left = min(last.get("due", 0.0) - time.time(), whole)  # the clock may have been set back
        if left > 0 and session.state.condition in ("ready", "waiting"):
            session.display.line(f"    waiting {duration(left)} before this attempt")
            with session.signals.listening():
                time.sleep(left)
        return None

