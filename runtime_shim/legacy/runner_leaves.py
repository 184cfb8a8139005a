"""What a run with agents or tools leaves on GitHub: a table of its steps, and all prompts and answers."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from runtime_shim.legacy.program import Table
from runtime_shim.legacy.runner import BAD, MOST_ROWS, SPECIAL, Runner
from runtime_shim.legacy.runner_calls import STEPS, masked
from runtime_shim.legacy.runner_kept import ANSWERS, LEDGER, PROMPTS, kept_texts
from runtime_shim.legacy.runner_reports import keep_reports
from runtime_shim.legacy.runner_says import output, tell
from runtime_shim.legacy.runner_state import Run, read_state

FOLDER = "rdc-run"  # what is uploaded, beside the state directory
SPOKEN = ("agent", "tool", "parallel", "confirm", "input", "select")


def finish(program: Table, folder: Path, words: list[str]) -> int:
    """Give the job its result, and leave what there is to leave."""
    code = Runner(program, folder).result(*words)
    run = read_state(program, folder / "state")
    is_over = bool(run.end) or os.environ["RDC_JOB"] != "success"
    if (folder / "waiting").exists() or not is_over:
        return code
    _table(run, folder)
    _keep(run, folder)
    output("kept", "true")
    return code


def _table(run: Run, folder: Path) -> None:
    """Write which steps have answered what, in bytes; texts of answers are not in it."""
    last = {name: word for name, _, word, _, _ in run.journal}
    rows = ["| Step | Status | Bytes |", "| --- | --- | ---: |"]
    for name, unit in run.program["nodes"].items():
        if unit["task"] not in SPOKEN:
            continue
        status = _status(run, name, last)
        entries = [f"{name}_{index}" for index in range(len(unit.get("entries", ())))] or [name]
        answers = [kept_texts(folder, ANSWERS, entry)[-1:] for entry in entries] if status == "completed" else []
        size = f"{sum(path.stat().st_size for paths in answers for path in paths):,}" if any(answers) else ""
        rows.append(f"| {unit['called'].translate(SPECIAL)} | {status} | {size} |")
    rows[MOST_ROWS:] = ["| and more | | |"] if rows[MOST_ROWS:] else []
    tell("GITHUB_STEP_SUMMARY", "\n".join(["", *rows, ""]))


def _status(run: Run, name: str, last: dict[str, str]) -> str:
    if name in last:
        return "failed" if last[name] in BAD and last[name] != "no" else "completed"
    if run.end == "COMPLETE":
        return "skipped"
    return "failed" if name == run.node else "not reached"


def _keep(run: Run, folder: Path) -> None:
    """Put together what is uploaded."""
    kept = folder.with_name(FOLDER)
    kept.mkdir(exist_ok=True)
    for kind in (PROMPTS, ANSWERS):
        if Path(folder, kind).exists():
            shutil.copytree(Path(folder, kind), kept / kind, dirs_exist_ok=True)
    keep_reports(run, folder, kept)  # for: report
    with suppress(FileNotFoundError):
        shutil.copy(folder / LEDGER, kept / LEDGER)
    names = ("node", "attempt", "outcome", "seconds", "instance")
    rows: list[dict[str, Any]] = [dict(zip(names, row)) for row in run.journal]  # noqa: B905 - Python 3.9
    lines = [json.dumps(row) for row in rows]
    (kept / "journal").write_text(masked("".join(f"{line}\n" for line in lines)), encoding="ascii")


STEPS["result"] = finish
