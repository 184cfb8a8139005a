"""The table of a program, put together from the calls of its runbook."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Callable, Optional

from runtime_shim.program import Table

WAYS = {"on_pass": "pass", "on_fail": "fail", "on_yes": "pass", "on_no": "fail", "then": None, "otherwise": None}


class Builder:
    """The words of a runbook. Ways lead from a unit; of several, the first whose conditions hold is taken."""

    def __init__(self) -> None:
        self.table: Table = {"registers": {}, "units": {}}

    def about(self, title: str, counters: Optional[Table] = None, texts: Optional[Table] = None, **facts: str) -> None:
        """Say what the program is, and what it holds when a run begins."""
        self.table.update(title=title, **facts)
        self.table["registers"].update({**(counters or {}), **(texts or {})})

    def group(self, name: str, **facts: str) -> None:
        """Say what a run is told when it comes into a group."""
        self.table.setdefault("groups", {})[name] = {key: unframed(value) for key, value in facts.items()}

    def unit(self, name: str, title: str = "", at: object = "", task: str = "shell", **settings: Any) -> None:  # noqa: ANN401
        """Add a unit: what it does, and where the run goes from there."""
        unit: Table = {"title": title, "task": task}
        if at:
            unit["at"] = f"{self.table['source']}:{at}" if isinstance(at, int) else at
        self.table.setdefault("entry", name)
        self.table["units"][name] = unit
        ways: list[tuple[Optional[str], Table]] = []
        for key, value in settings.items():
            if key in WAYS:
                ways += [(WAYS[key], way) for way in flat(value)]
            elif key == "on":
                pairs = value.items() if isinstance(value, dict) else value
                ways += [(word, way) for word, found in pairs for way in flat(found)]
            elif key in ("bash", "sh"):
                unit.update(shell=key, command=unframed(value))
            else:
                unit[key] = unframed(value)
        is_retried = any("times" in way for _, way in ways)
        unit["edges"] = [self._edge(name, word, is_retried, **way) for word, way in ways]
        if is_retried:
            unit["attempt"] = f"{name} retries"
            self.table["registers"][unit["attempt"]] = 0

    def end(self, name: str, result: str, message: str = "", **settings: object) -> None:
        """Add an end to which several ways lead, or from which one leads on."""
        self.unit(name, task="end", result=result, **settings)
        self.table["units"][name]["message"] = message

    @staticmethod
    def go(target: str, says: str = "", **guards: Sequence[object]) -> Table:
        """Lead to a unit. `says` is what the document says, `when` what has to hold, `do` what changes."""
        return {"target": target, "says": says, **guards}

    @staticmethod
    def complete(message: str = "", says: str = "COMPLETE", **more: object) -> Table:
        """Lead to a good end."""
        return {"target": {"result": "complete", "message": message}, "says": says, **more}

    @staticmethod
    def stop(message: str = "", says: str = "STOP", **more: object) -> Table:
        """Lead to a bad end."""
        return {"target": {"result": "stop", "message": message}, "says": says, **more}

    @staticmethod
    def retry(times: int, says: str = "", then: Sequence[Any] = ()) -> list[Any]:
        """Lead to the unit itself again, so many times in a visit, and then elsewhere."""
        return [{"times": times, "says": says or f"RETRY {times}"}, then]

    def _edge(
        self,
        name: str,
        word: Optional[str],
        is_retried: bool,
        says: str,
        target: Any = None,  # noqa: ANN401
        times: int = 0,
        when: Sequence[Any] = (),
        do: Sequence[Any] = (),
        **more: object,
    ) -> Table:
        counter = f"{name} retries"
        if times:
            target, when, do = name, [[counter, "<", times]], [[counter, "+", 1]]
        elif is_retried:  # whoever leaves the unit has all retries again when he comes back
            do = [*do, [counter, "=", 0]]
        if isinstance(target, dict):
            target = self._end(name, {"title": "", "task": "end", **target, **more, "edges": []})
        edge = {"on": word, "if": when, "do": do, "go": target, "says": says}
        return {key: value for key, value in edge.items() if value or key == "says"}

    def _end(self, name: str, end: Table) -> str:
        """Add an end that only one way leads to, and name it."""
        stem, number = f"{name}/{end['result'].upper()}", 1
        target = stem
        while target in self.table["units"]:
            number += 1
            target = f"{stem}~{number}"
        self.table["units"][target] = end
        return target


def flat(ways: Any) -> Iterator[Table]:  # noqa: ANN401 (a way, or ways within ways)
    """Yield ways one after the other."""
    if isinstance(ways, dict):
        yield ways
    else:
        for way in ways:
            yield from flat(way)


def unframed(value: Any) -> Any:  # noqa: ANN401 (a text, or any other setting)
    """Return a text that stands on lines of its own, between its quotes, without the line ends around it."""
    return value[1:-1] if isinstance(value, str) and value.startswith("\n") else value


def built(runbook: Callable[..., None]) -> Table:
    """Return the table of a runbook; a word that is not the builder's is the kind of a task."""
    builder, code = Builder(), runbook.__code__
    words = code.co_varnames[: code.co_argcount]
    runbook(*(getattr(builder, word, None) or partial(builder.unit, task=word) for word in words))
    return builder.table
