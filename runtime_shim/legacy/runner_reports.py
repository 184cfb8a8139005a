"""Reports of a run on GitHub: answers are added to files, in a folder that texts name, and kept with it (I29, I30)."""

from pathlib import Path
from typing import Optional

from runtime_shim.legacy.report_files import add_block, read_report, report_blocks
from runtime_shim.legacy.runner_agents import REPORTING
from runtime_shim.legacy.runner_calls import Caller, masked
from runtime_shim.legacy.runner_folder import REPORTS
from runtime_shim.legacy.runner_says import tell
from runtime_shim.legacy.runner_state import Run


def add_reports(caller: Caller, answers: list[Optional[str]], text: str) -> None:
    """Add what a step has said to its report, and the answers of entries to theirs."""
    unit, folder = caller.run.unit, str(caller.folder / REPORTS)
    if "report" not in unit:
        return
    texts = {f"{caller.run.node}_{index}": answer or "" for index, answer in enumerate(answers)}
    for report, (place, block) in report_blocks(folder, {**texts, unit["report"]: text}).items():
        add_block(folder, report, place, block)


def keep_reports(run: Run, folder: Path, kept: Path) -> None:
    """Put the reports among what is uploaded, and name them on the page of the run."""
    found = []
    for name, unit in run.program["nodes"].items():
        entries = [f"{name}_{index}" for index in range(len(unit.get("entries", ())))]
        for report in [*entries, unit["report"]] if "report" in unit else ():
            text = read_report(str(folder / REPORTS / f"{report}.md"))
            if text:
                (kept / REPORTS).mkdir(exist_ok=True)
                (kept / REPORTS / f"{report}.md").write_bytes(masked(text.decode("utf-8", "replace")).encode())
                found.append(f"`{report}.md`")
    if found:
        tell("GITHUB_STEP_SUMMARY", f"\nReports, in the folder `{REPORTS}` of the artifact: {', '.join(found)}\n")


REPORTING.append(add_reports)
