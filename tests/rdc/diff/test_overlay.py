"""Two versions of a runbook in one picture: nothing is lost, what changed is marked, and what did not is as it was."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from backends.picture.arrows import Arrow
from backends.picture.model import Box, Picture, outline
from rdc.diff.compare import difference
from tests.equivalence.cases import Case
from tests.equivalence.strategies import cases
from tests.rdc.diff.test_difference import GROUPED, OLD
from tests.support.pictures import both, drawn, of_case, pairs

INSERTED = OLD.replace("## 3. Install", "## 4. Install").replace(
    "## 2. Test", "## 2. Lint\n\n```bash\nmake lint\n```\n\n## 3. Test"
)


def shown(folder: Path, new: str, old: str = OLD) -> Picture:
    return both(drawn(folder, old), drawn(folder, new))


def marks(picture: Picture) -> dict[str, str]:
    return {box.node.id: box.mark for box in picture.boxes if box.mark}


def moves(picture: Picture) -> list[tuple[str, str, str]]:
    return [(arrow.source, arrow.says, arrow.target) for arrow in picture.arrows if arrow.mark]


def test_a_step_that_was_inserted(tmp_path: Path) -> None:
    found = shown(tmp_path, INSERTED)
    assert marks(found) == {"2": "added"}
    assert next(box.lines for box in found.boxes if box.node.id == "2") == ("2 Lint", "+ added")
    assert {("1", "+ PASS", "2"), ("2", "+ PASS", "3"), ("1", "− PASS", "3")} <= set(moves(found))
    assert not any(arrow.mark for arrow in found.arrows if arrow.source in {"3", "4", "Fix"}), "only renumbered"


def test_a_step_that_was_removed_stands_where_it_stood(tmp_path: Path) -> None:
    found = both(drawn(tmp_path, INSERTED), drawn(tmp_path, OLD))
    assert [box.node.id for box in found.boxes][:3] == ["1", "old 2", "2"], "2 is another step now"
    assert marks(found)["old 2"] == "removed"
    assert {("1", "− PASS", "old 2"), ("old 2", "− PASS", "2"), ("1", "+ PASS", "2")} <= set(moves(found))


def test_a_removed_step_stays_in_its_frame(tmp_path: Path) -> None:
    step = "## 1. Both\n\n### 1.1 One\n\n```sh\none\n```\n\n### 1.2 Two\n\n```sh\ntwo\n```\n"
    again = "## 1. First\n\n```sh\nfirst\n```\n\n## 2. Both\n\n### 2.1 One\n\n```sh\none\n```\n"
    found = shown(tmp_path, again, step)
    (gone,) = [box for box in found.boxes if box.mark == "removed"]
    assert (str(gone.node.title), gone.frame) == ("Two", "2")
    assert next(box.frame for box in shown(tmp_path, "## 1. Other\n", step).boxes if box.mark == "removed") == ""


def test_what_of_a_step_changed_is_said(tmp_path: Path) -> None:
    found = shown(tmp_path, OLD.replace("make install", "make all").replace("RETRY 2", "RETRY 5"))
    assert marks(found) == {"3": "changed"}
    assert found.boxes[2].lines[-1] == "~ changed: command"
    assert moves(found) == [("2", "+ RETRY 5", "2"), ("2", "− RETRY 2", "2")]


def test_what_of_a_step_with_substeps_changed_is_said_on_its_frame(tmp_path: Path) -> None:
    found = shown(tmp_path, GROUPED.replace("Install", "Deploy").replace("Both", "All"), GROUPED)
    assert [(frame.id, frame.title, frame.mark) for frame in found.frames] == [
        ("1", "1 Deploy · ~ changed: title, prompt", "changed"),
        ("2", "2 Clean", ""),
    ]
    assert not any(box.mark for box in found.boxes)


def test_ends_that_came_and_went(tmp_path: Path) -> None:
    found = shown(tmp_path, OLD.replace('COMPLETE "Done"', 'COMPLETE "Installed"'))
    assert {(box.lines[1], box.mark) for box in found.boxes if box.mark} == {
        ("Installed", "added"),
        ("Done", "removed"),
    }


def test_the_end_of_a_nested_runbook_may_say_something_else(tmp_path: Path) -> None:
    text, nested = "## 1. A\n\n- x.runbook.md\n", '## 1. B\n\n```sh\ntrue\n```\n\n- PASS: COMPLETE "Good"\n'
    old = drawn(tmp_path, text, {"x.runbook.md": nested})
    new = drawn(tmp_path, text, {"x.runbook.md": nested.replace("Good", "Fine")})
    assert [box.lines for box in both(old, new).boxes if box.mark] == [("COMPLETE", "Fine", "~ changed: message")]


def test_a_run_that_begins_elsewhere(tmp_path: Path) -> None:
    steps = [
        "## {}. A\n\n```sh\na\n```\n\n- PASS: STOP\n- FAIL: GOTO {}\n",
        "## {}. B\n\n```sh\nb\n```\n\n- PASS: STOP\n",
    ]
    old = steps[0].format(1, 2) + steps[1].format(2) + "- FAIL: GOTO 1\n"
    new = steps[1].format(1) + "- FAIL: GOTO 2\n\n" + steps[0].format(2, 1)
    found = shown(tmp_path, new, old)
    assert marks(found)["1"] == "changed"
    assert "starts" in " ".join(found.boxes[0].lines)


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_a_runbook_with_itself_is_its_picture(case: Case) -> None:
    picture = of_case(case)
    assert both(picture, picture) == picture


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(pair=pairs)
def test_nothing_is_lost_and_nothing_leads_nowhere(pair: tuple[Case, Case]) -> None:
    old, new = map(of_case, pair)
    found, matched = both(old, new), difference(old, new).matched
    ids = [box.node.id for box in found.boxes]
    assert len(set(ids)) == len(ids)
    assert {end for arrow in found.arrows for end in (arrow.source, arrow.target)} <= set(ids)
    assert {box.frame for box in found.boxes} <= {"", *(frame.id for frame in found.frames)}
    assert sum(isinstance(item, Box) for _, item in outline(found)) == len(ids)
    assert [box.node for box in found.boxes if box.mark != "removed"] == [box.node for box in new.boxes]
    assert [unmarked(arrow) for arrow in found.arrows if arrow.mark != "removed"] == list(new.arrows)
    gone = [box.node for box in old.boxes if box.node.id not in matched]
    assert [box.node.task for box in found.boxes if box.mark == "removed"] == [node.task for node in gone]


def unmarked(arrow: Arrow) -> Arrow:
    return replace(arrow, said=arrow.said[1:], mark="") if arrow.mark else arrow
