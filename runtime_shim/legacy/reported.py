"""Reports of a run of a Makefile: what a step has said is added to them once, however often the run goes on (I29)."""

import json
from contextlib import suppress
from pathlib import Path

from runtime_shim.legacy.account import masked
from runtime_shim.legacy.calls import ENTRIES, text_in
from runtime_shim.legacy.display import one_line
from runtime_shim.legacy.helper import REQUESTS, keep
from runtime_shim.legacy.program import Table
from runtime_shim.legacy.report_files import Blocks, add_block, report_blocks


def texts_reported(call: Table, folder: str, answer: str) -> dict[str, str]:
    """Return what is added to which report: of a parallel step, to those of its entries too."""
    found: dict[str, str] = {}
    for index, entry in enumerate(call["entries"] if "check" in call else ()):
        with suppress(FileNotFoundError):
            found[entry["name"]] = text_in(str(Path(folder, ENTRIES, str(index))))
    return {**found, call["report"]: text_in(answer)}


def planned_blocks(folder: str, token: str, call: Table, answer: str) -> Blocks:
    """Return what is added for an outcome: what was written down when that was first asked for."""
    path = Path(folder, "calls", "reports")
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):  # what is damaged is made again
        found: Table = json.loads(path.read_bytes())
        if found["of"] == token:
            return {report: (place, text) for report, (place, text) in found["blocks"].items()}
    texts = {report: masked(text) for report, text in texts_reported(call, folder, answer).items()}
    plan = report_blocks(str(Path(folder, "reports")), texts)
    keep(str(path), json.dumps({"of": token, "blocks": plan}))
    return plan


def report_call(folder: str, answer: str, token: str) -> str:
    """Add what the call has said that is described in a file; `token` tells outcomes apart."""
    call = json.loads(Path(folder, "call").read_bytes())
    if "report" not in call:
        return ""
    for name, (place, text) in planned_blocks(folder, token, call, answer).items():
        try:
            add_block(str(Path(folder, "reports")), name, place, text)
        except OSError as error:
            return one_line(f"the report {name} cannot be written: {error.strerror}")
    return ""


REQUESTS["report"] = report_call
