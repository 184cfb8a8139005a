"""How long `rdc build` takes for a thousand documents: with nothing to do, and with all of them changed."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.compiling import RDC
from benchmarks.figures import Figure
from benchmarks.rounds import ROOT, alternate, elapsed
from benchmarks.starting import nothing
from rdc.build.compile import cores

SOURCE = ROOT / "examples" / "nightly-cleanup.runbook.md"
CONFIGURATION = '[[build]]\nsource = "docs/*.runbook.md"\nto = "github"\nout = ".github/workflows/{name}.yml"\n'


def building(documents: int = 1_000, rounds: int = 5) -> list[Figure]:
    """Build nothing against an interpreter that does nothing, and everything against one document at a time.

    The yardstick of the second is what one process takes for each document, times their number, over the cores.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "docs").mkdir()
        (folder / "rdc.toml").write_text(CONFIGURATION, encoding="utf-8")
        numbers = count()
        _write(folder, documents, next(numbers))
        idle = partial(elapsed, [RDC, "build", "--quiet"], folder)
        idle()
        times = alternate({"nothing": nothing, "idle": idle}, 4 * rounds + 1)
        start = median(times["idle"])

        def changed(jobs: int) -> float:
            _write(folder, documents, next(numbers))
            return elapsed([RDC, "build", "--quiet", "--jobs", str(jobs)], folder)

        whole = alternate({"all": partial(changed, 0), "one": partial(changed, 1)}, rounds)
    each = (min(whole["one"]) - start) / documents
    return [
        Figure(f"`rdc build` of {documents:,}, nothing to do", "python3 -c pass", start, median(times["nothing"]), 8.0),
        Figure(
            f"`rdc build` of {documents:,}, all changed, {cores()} cores",
            "one document × number ÷ cores",
            min(whole["all"]),
            each * documents / cores(),
            1.2,
        ),
    ]


def _write(folder: Path, documents: int, number: int) -> None:
    """Write all documents with a number in them that makes them new."""
    text = SOURCE.read_text(encoding="utf-8")
    for document in range(documents):
        changed = text.replace("\n## 1.", f"\nDocument {document}, version {number}.\n\n## 1.", 1)
        (folder / "docs" / f"task-{document:04}.runbook.md").write_text(changed, encoding="utf-8")
