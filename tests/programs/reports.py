"""What the reports of a path must be, and how texts show the folder that they lie in (I29, I30)."""

from __future__ import annotations

from typing import Any

from tests.programs.cases import Case, Json, Trace
from tests.programs.drawing import flag, rarely
from tests.programs.reading import answer_of

SLOT = "where reports lie"
BEFORE_FOLDER, AFTER_FOLDER = "<folder ", " folder>"
PLACE = "/…/reports"
"""What stands for the folder in what is compared."""

NAMES = ("plan", "Review-1", "a.b_c", "9", "x..y", "summary.md", "R_0")


def shown_folder(path: str) -> str:
    """A reference to the folder, filled in."""
    return f"{BEFORE_FOLDER}{path}{AFTER_FOLDER}"


def draw_reports(draw: Any, program: Json) -> None:
    """Give some agents and parallel steps reports, and let some prompts say where these lie."""
    names = iter(NAMES)
    tasks = [node["task"] for node in program["nodes"] if node["task"]["kind"] in {"agent", "parallel"}]
    for node in program["nodes"]:
        is_fit = node["task"]["kind"] == "agent" or (node["task"]["kind"] == "parallel" and is_plain(node["id"]))
        if node["task"] in tasks and is_fit and flag(draw) and (name := next(names, "")):
            node["task"]["report"] = name
    if not tasks or rarely(draw, 2):
        return
    program["slots"].append({"name": SLOT})
    program["folder"] = SLOT
    for agent in [agent for task in tasks for agent in task.get("entries", [task])]:
        if flag(draw):
            prompt = agent["prompt"]
            parts = [prompt] if isinstance(prompt, str) and prompt else list(prompt)
            reference = {"register": SLOT, "written": "{{folder}}", "before": BEFORE_FOLDER, "after": AFTER_FOLDER}
            agent["prompt"] = [*parts, {**reference, "missing": "no folder"}]


def is_plain(step: str) -> bool:
    """Whether the entries of a step can have reports."""
    return step.isascii() and step[:1].isalnum() and all(each.isalnum() or each in "._-" for each in step)


def reports_of(case: Case, trace: Trace) -> dict[str, str]:
    """The reports of a path by their files, with headings that have no date."""
    tasks = {node["id"]: node["task"] for node in case.program["nodes"]}
    blocks: dict[str, list[str]] = {}
    numbers: dict[str, int] = {}
    for visit in trace.visits:
        number = numbers[visit.step] = numbers.get(visit.step, -1) + 1
        task = tasks[visit.step]
        if "report" not in task or not visit.calls:
            continue
        entries = case.reply(visit.step, number).get("entries", [])
        texts = {f"{visit.step}_{index}": answer_of(entry) or "" for index, entry in enumerate(entries)}
        for name, text in {**texts, task["report"]: visit.text}.items():
            blocks.setdefault(name, []).extend([f"##\n\n{text}\n"] if text else [])
    return {f"{name}.md": "\n".join(found) for name, found in blocks.items() if found}
