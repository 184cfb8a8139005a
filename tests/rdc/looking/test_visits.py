"""The visits of a run: the path that a picture shows, the values that changed, and records without times."""

import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from rdc.looking.drawing import Drawing
from rdc.looking.model import Document, Visit
from rdc.looking.visits import LONGEST_OUTPUT, Reading
from runtime_shim.engine.journal import Record, read_journal
from tests.conftest import ROOT
from tests.support.cli import document, spawn
from tests.support.runbooks import command

pytestmark = pytest.mark.process

EXAMPLES = ROOT / "examples"


def records_of(folder: Path, name: str) -> list[Record]:
    return read_journal(folder / ".rdc" / name / "journal")[0]


def drawn(file: Path) -> Drawing:
    drawing = Drawing(str(file), Document("", "", 0), lambda: None)
    drawing.close()
    return drawing


def read(file: Path, records: Sequence[Record]) -> list[Visit]:
    """Read records one by one, as they come."""
    reading = Reading()
    for record in records:
        reading.add([record], drawn(file).version)
    together = Reading()
    together.add(records, drawn(file).version)
    assert together.visits == reading.visits
    return reading.visits


def paths(file: Path, visits: Sequence[Visit]) -> list[tuple[str, ...]]:
    """The boxes of each transition; each pair has an arrow in the picture."""
    about = drawn(file).document
    copies = {(box.source, box.step) for box in about.boxes if box.source}
    ids = {box.id: box for box in about.boxes}
    arrows = {(arrow.source, arrow.target) for arrow in about.arrows}
    assert ids
    found = [(one.step, *one.path, one.next) for one in visits]
    for path in found:
        for before, after in pairwise(path):
            target = f"{before} → {after}" if (before, after) in copies else after
            assert (before, target) in arrows, path
    return found


def test_a_path_has_branches_and_that_of_another_version_is_empty(tmp_path: Path) -> None:
    file = Path(shutil.copy(EXAMPLES / "preflight-checks.runbook.md", tmp_path))
    assert spawn("run", file.name, cwd=tmp_path).code == 1
    records = records_of(tmp_path, "preflight-checks")
    visits = read(file, records)
    assert [one.step for one in visits] == ["1", "2.1", "2.2", "2.3", "2.4", "Report"]
    assert [one.word for one in visits] == ["PASS", "PASS", "FAIL", "PASS", "FAIL", "PASS"]
    assert paths(file, visits)[4] == ("2.4", "2", "Report")
    file.write_text(file.read_text().replace("name=shop", "name=store"))
    assert {one.path for one in read(file, records)} == {()}


def test_a_path_has_the_ends_of_nested_runbooks_and_the_box_of_attempts(tmp_path: Path) -> None:
    inner = "# Inner\n\n" + command("1. Look", "true", 'PASS: COMPLETE "Good"')
    document(tmp_path, "inner.runbook.md", inner)
    outer = "# Outer\n\n## 1. Inner\n\n- inner.runbook.md\n\n" + command("2. Then", "true")
    file = document(tmp_path, "outer.runbook.md", outer)
    assert spawn("run", file.name, cwd=tmp_path).code == 0
    visits = read(file, records_of(tmp_path, "outer"))
    assert paths(file, visits)[0] == ("1/inner.runbook.md/1", "1/inner.runbook.md/1/COMPLETE", "2")
    version = drawn(Path(shutil.copy(EXAMPLES / "specifications" / "draft-prd.stepspec.yaml", tmp_path))).version
    assert version
    assert version.between["step-02/outputs", "step-02/inputs"] == "step-02/again"


VALUES = """---
rdc:
  inputs:
    NAME: {default: shop}
  outputs: [VERSION, NOTES]
---
# Values
## 1. Build
```bash
echo "VERSION=1.$RDC_ATTEMPT" >> $RDC_OUTPUT; echo "NOTES=$(printf 'x%.0s' {1..3000})" >> $RDC_OUTPUT
[ "$RDC_ATTEMPT" = 2 ]
```
- FAIL: RETRY 1
"""


def test_outputs_are_values_that_changed(tmp_path: Path) -> None:
    file = document(tmp_path, "values.runbook.md", VALUES)
    done = spawn("run", file.name, cwd=tmp_path)
    visits = read(file, records_of(tmp_path, "values"))
    assert [one.outputs["VERSION"] for one in visits] == ["1.1", "1.2"], done.err
    assert visits[0].outputs["NOTES"] == "x" * LONGEST_OUTPUT
    assert [*visits[1].outputs] == ["VERSION"], "the notes are the same"


def test_records_without_times_are_shown_with_their_durations(tmp_path: Path) -> None:
    """Older versions of rdc wrote none."""
    file = document(tmp_path, "deploy.runbook.md", "# Deploy\n\n" + command("1. Build", "sleep 0.1"))
    spawn("run", file.name, cwd=tmp_path)
    records = records_of(tmp_path, "deploy")
    old = [{key: one[key] for key in one if key != "time" or one["kind"] == "begin"} for one in records]
    visits, timed = read(file, old), read(file, records)
    assert visits[0].took > 0
    assert timed[0].started
    assert visits == [replace(one, started="", ended="") for one in timed]
