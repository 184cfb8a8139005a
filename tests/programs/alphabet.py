"""The words that the outcome of a task may have (I9 to I15), from the JSON of the task."""

from __future__ import annotations

from tests.programs.cases import Json
from tests.programs.filling import written

UNREAD = ["none", "invalid", "ambiguous", "failed"]


def keywords_of(task: Json) -> list[str]:
    """The keywords of an agent, or of all entries of a parallel step, each once."""
    readings = [agent.get("reading", {}) for agent in task.get("entries", [task])]
    return list(dict.fromkeys(keyword for reading in readings for keyword in reading.get("keywords", [])))


def words_of(task: Json) -> list[str]:
    """The alphabet of a task; none for a node without one."""
    kind = task["kind"]
    if kind in {"branch", "end"}:
        return []
    if kind == "gate":
        return ["approved", "rejected"]
    if kind in {"agent", "parallel"} and keywords_of(task):
        return [*keywords_of(task), *UNREAD]
    if kind == "ask":
        options = [written(option) for option in task.get("options", [])]
        return {"confirm": ["yes", "no"], "input": ["pass"], "select": options}.get(task["question"], ["pass", "fail"])
    return ["pass", "fail"]


def undone(task: Json) -> str:
    """The word of a task that could not be done."""
    return "failed" if "failed" in words_of(task) else "fail"
