"""The last output of a run in the run summary."""

from __future__ import annotations

import os
from pathlib import Path

from runtime_shim.publish.publisher import publish, shown


def summary(name: str, data: bytes) -> str:
    """Append the output to the run summary."""
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
        file.write(f"{shown(name, data.decode('utf-8', 'replace'))}\n")
    return "written"


def publish_summary() -> int:
    """Publish the output in the run summary."""
    return publish("summary", summary)
