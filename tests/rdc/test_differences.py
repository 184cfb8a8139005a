"""What changed between two versions of a runbook, as flows, and both versions in one picture."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from backends.picture.arrows import Arrow
from backends.picture.model import Box, Picture, outline, picture
from compiler.driver import compile_file
from compiler.ir.tasks import End, Shell
from compiler.ir.texts import text
from rdc.diff.difference import Difference, difference
from rdc.diff.steps import MOST_ALIKE
from tests.differential.generate.rundown import Drawn, cases
from tests.support.cli import document as write
from tests.support.pictures import both, drawn, of_case, pairs
from tests.support.sample_programs import node, program, to

OLD = """\
# Deploy
## 1. Build
```bash
make
```
## 2. Test
```bash
make check
```
- FAIL: RETRY 2 GOTO Fix
## 3. Install
```bash
make install
```
- PASS: COMPLETE "Done"
## Fix
```bash
git revert HEAD
```
- PASS: STOP "Reverted"
"""


def compare(folder: Path, new: str, old: str = OLD) -> Difference:
    pictures = []
    for name, document in (("old", old), ("new", new)):
        path = folder / f"{name}.runbook.md"
        path.write_text(document, encoding="utf-8")
        compiled = compile_file(str(path))
        assert compiled.program, compiled.diagnostics
        pictures.append(picture(compiled.program))
    return difference(pictures[0], pictures[1])


def moves(found: Difference) -> list[tuple[str, str | None, str | None]]:
    return [(move.node.id, says(move.before), says(move.after)) for move in found.redirected]


def says(arrow: Arrow | None) -> str | None:
    return arrow.says if arrow else None


def test_a_step_that_is_gone(tmp_path: Path) -> None:
    start, _, rest = OLD.partition("## 2. Test")
    new = start + rest[rest.index("## 3. Install") :].replace("## 3. Install", "## 2. Install")
    found = compare(tmp_path, new)
    assert [node.id for node in found.removed] == ["2"]
    assert [str(end.message) for end in found.closed] == ["Reverted"], "nothing leads to Fix any more"


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("make install", "make install-all", ("command",)),
        ("3. Install", "3. Install all of it", ("title",)),
        ("```bash\nmake install", "```sh\nmake install", ("interpreter",)),
        ("```bash\nmake install\n```", "Install it.", ("kind",)),
        ("```bash\nmake install", "Mind the gap.\n\n```bash\nmake install", ("prompt",)),
    ],
)
def test_what_of_a_step_changed(before: str, after: str, parts: tuple[str, ...], tmp_path: Path) -> None:
    found = compare(tmp_path, OLD.replace(before, after))
    assert [(pair.new.id, pair.parts) for pair in found.changed] == [("3", parts)]
    assert (found.added, found.removed, found.redirected, found.renumbered) == ((), (), (), ())


def steps(*titles: str) -> str:
    return "".join(f"## {number}. {title}\n\n```sh\n{title}\n```\n\n" for number, title in enumerate(titles, 1))


def test_steps_that_are_alike_are_matched_in_order(tmp_path: Path) -> None:
    old = steps("Build", "Test", "Deploy", "Test")
    found = compare(tmp_path, steps("Build", "Test", "Approve", "Test", "Deploy", "Test"), old)
    assert [node.id for node in found.added] == ["3", "4"]
    assert {old: new for old, new in found.matched.items() if old.isdigit()} == {"1": "1", "2": "2", "3": "5", "4": "6"}


NESTED = "\n\n- lib/lint.runbook.md\n- FAIL: STOP\n\n"
LINT = "".join(f"### 1.{number} Look\n\n```sh\nlook {number}\n```\n\n" for number in (1, 2))


def test_runbooks_in_a_step_that_has_another_number_are_the_same(tmp_path: Path) -> None:
    """The labels in them name their own steps, which are called as some of the outer runbook."""
    (tmp_path / "rdc.toml").touch()
    write(tmp_path, "lib/lint.runbook.md", f"## 1. All\n\n{LINT}")
    both = "## {0}. Both\n\n### {0}.1 One\n\n```sh\none\n```\n\n"
    outer = f"{both}- FAIL: CONTINUE\n\n### {{0}}.2 Two\n\n```sh\ntwo\n```\n\n"
    old = outer.format(1) + f"## 2. Nested{NESTED}"
    new = "## 1. First\n\n```sh\nfirst\n```\n\n" + outer.format(2) + f"## 3. Nested{NESTED}"
    found = compare(tmp_path, new, old)
    assert [node.id for node in found.added] == ["1"]
    assert (found.removed, found.changed, found.redirected) == ((), (), ())
    assert found.frames["2/lib/lint.runbook.md/1"] == "3/lib/lint.runbook.md/1"


def test_of_inclusions_that_are_alike_the_first_ones_stay(tmp_path: Path) -> None:
    (tmp_path / "lint.runbook.md").write_text("## 1. Look\n\n```sh\nlook\n```\n", encoding="utf-8")
    twice, once = ("## 1. Nested\n\n" + "- lint.runbook.md\n" * times + "\n## 2. End?\n" for times in (2, 1))
    found = compare(tmp_path, once, twice)
    assert [node.id for node in found.removed] == ["1/lint.runbook.md~2/1"]
    assert [change.node.id for change in found.redirected] == ["1/lint.runbook.md/COMPLETE"]
    assert [node.id for node in compare(tmp_path, twice, once).added] == ["1/lint.runbook.md~2/1"]


def row(contents: Sequence[str]) -> Picture:
    nodes = [node(str(number), Shell("sh", text(what)), to(str(number + 1))) for number, what in enumerate(contents)]
    return picture(program(*nodes, node(str(len(contents)), End("complete"))))


@pytest.mark.parametrize("kinds", [1, 2, MOST_ALIKE, 10_000])
@pytest.mark.share(2)
def test_the_time_grows_with_the_document_and_not_with_its_square(kinds: int) -> None:
    """5,000 steps take a tenth of a second; with the square of them it was many."""
    old = [str(number * 7919 % kinds) for number in range(2000)]
    new = [text for number, text in enumerate(old) for text in ([text, f"new {number}"] if number % 2 else [text])]
    pictures = row(old), row(new)
    begun = time.process_time()
    assert difference(*pictures).added
    assert time.process_time() - begun < 2


GROUPED = """\
## 1. Install
Both halves.
### 1.1 Front
### 1.2 Back
## 2. Clean
### 2.1 Files
### 2.2 Logs
"""


def groups(found: Difference) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(change.old.id, change.new.id, change.parts) for change in found.changed]


def test_changed_steps_stand_in_the_order_of_the_document(tmp_path: Path) -> None:
    new = GROUPED.replace("Clean", "Tidy").replace("Front", "Front, carefully").replace("2.1 Files", "2.1 All files")
    new = new.replace("### 2.1 All", "Slowly.\n\n### 2.1 All").replace("Both halves.", "")
    found = compare(tmp_path, new, GROUPED)
    assert (found.added, found.removed, found.redirected) == ((), (), ())
    changed = [("1", ("prompt",)), ("1.1", ("title",)), ("2", ("title", "prompt")), ("2.1", ("title",))]
    assert groups(found) == [(name, name, parts) for name, parts in changed]


def test_a_step_that_is_only_renumbered_has_not_changed(tmp_path: Path) -> None:
    body = GROUPED.replace("## 2", "## 3").replace("### 2", "### 3").replace("## 1", "## 2").replace("### 1", "### 2")
    found = compare(tmp_path, "## 1. Ask\n\n" + body, GROUPED)
    assert groups(found) == []
    assert [node.id for node in found.added] == ["1"]


def test_a_step_that_moves_to_another_step_changes_the_title_of_none(tmp_path: Path) -> None:
    first, second = "## 1. Install\n\nBoth halves.\n\n### 1.1 Back\n\n", "## 2. Clean\n\n### 2.1 Front\n\n"
    new = f"{first}{second}### 2.2 Files\n\n### 2.3 Logs\n"
    assert groups(compare(tmp_path, new, GROUPED)) == []
    assert groups(compare(tmp_path, GROUPED, new)) == []


def test_what_a_nested_runbook_is_called_and_says(tmp_path: Path) -> None:
    outer = "## 1. Check\n\n- lint.runbook.md\n"
    inner = "# Lint\n\nSlow.\n\n## 1. Run\n"
    texts = (inner, inner.replace("Slow", "Fast"), inner.partition("\n")[2])
    slow, fast, plain = (drawn(tmp_path, outer, {"lint.runbook.md": text}) for text in texts)
    name = "1/lint.runbook.md"
    assert groups(difference(slow, fast)) == [(name, name, ("description",))]
    assert groups(difference(slow, plain)) == [(name, name, ("title",))]


LINTED = "## 2. Lint\n\n```bash\nmake lint\n```\n\n## 3. Test"
INSERTED = OLD.replace("## 3. Install", "## 4. Install").replace("## 2. Test", LINTED)


def shown(folder: Path, new: str, old: str = OLD) -> Picture:
    return both(drawn(folder, old), drawn(folder, new))


def marks(picture: Picture) -> dict[str, str]:
    return {box.node.id: box.mark for box in picture.boxes if box.mark}


def marked_moves(picture: Picture) -> list[tuple[str, str, str]]:
    return [(arrow.source, arrow.says, arrow.target) for arrow in picture.arrows if arrow.mark]


def test_a_step_that_was_inserted_renumbers_and_changes_nothing_else(tmp_path: Path) -> None:
    change = compare(tmp_path, INSERTED)
    assert ([node.id for node in change.added], change.removed, change.changed) == (["2"], (), ())
    assert [(pair.old.id, pair.new.id) for pair in change.renumbered] == [("2", "3"), ("3", "4")]
    assert moves(change) == [("1", "PASS", "PASS")], "only the step before leads elsewhere"
    found = shown(tmp_path, INSERTED)
    assert marks(found) == {"2": "added"}
    assert next(box.lines for box in found.boxes if box.node.id == "2") == ("2 Lint", "+ added")
    assert {("1", "+ PASS", "2"), ("2", "+ PASS", "3"), ("1", "− PASS", "3")} <= set(marked_moves(found))
    assert not any(arrow.mark for arrow in found.arrows if arrow.source in {"3", "4", "Fix"}), "only renumbered"


def test_a_step_that_was_removed_stands_where_it_stood(tmp_path: Path) -> None:
    found = both(drawn(tmp_path, INSERTED), drawn(tmp_path, OLD))
    assert [box.node.id for box in found.boxes][:3] == ["1", "old 2", "2"], "2 is another step now"
    assert marks(found)["old 2"] == "removed"
    assert {("1", "− PASS", "old 2"), ("old 2", "− PASS", "2"), ("1", "+ PASS", "2")} <= set(marked_moves(found))


def test_a_removed_step_stays_in_its_frame(tmp_path: Path) -> None:
    step = "## 1. Both\n\n### 1.1 One\n\n```sh\none\n```\n\n### 1.2 Two\n\n```sh\ntwo\n```\n"
    again = "## 1. First\n\n```sh\nfirst\n```\n\n## 2. Both\n\n### 2.1 One\n\n```sh\none\n```\n"
    found = shown(tmp_path, again, step)
    (gone,) = [box for box in found.boxes if box.mark == "removed"]
    assert (str(gone.node.title), gone.frame) == ("Two", "2")
    assert next(box.frame for box in shown(tmp_path, "## 1. Other\n", step).boxes if box.mark == "removed") == ""


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [("RETRY 5 GOTO Fix", "RETRY 2", "RETRY 5"), ("GOTO Fix", "RETRY 2", None), ('RETRY 2 STOP "Bad"', "FAIL", "FAIL")],
)
def test_what_of_a_step_and_its_transitions_changed(line: str, before: str, after: str | None, tmp_path: Path) -> None:
    new = OLD.replace("RETRY 2 GOTO Fix", line)
    assert moves(compare(tmp_path, new)) == [("2", before, after)]
    found = shown(tmp_path, new.replace("make install", "make all"))
    assert marks(found)["3"] == "changed"
    assert found.boxes[2].lines[-1] == "~ changed: command"
    assert ("2", f"− {before}", "Fix" if before == "FAIL" else "2") in marked_moves(found)


def test_what_of_a_step_with_substeps_changed_is_said_on_its_frame(tmp_path: Path) -> None:
    found = shown(tmp_path, GROUPED.replace("Install", "Deploy").replace("Both", "All"), GROUPED)
    frames = [(frame.id, frame.title, frame.mark) for frame in found.frames]
    assert frames == [("1", "1 Deploy · ~ changed: title, prompt", "changed"), ("2", "2 Clean", "")]
    assert not any(box.mark for box in found.boxes)


def test_ends_that_came_and_went(tmp_path: Path) -> None:
    found = shown(tmp_path, OLD.replace('COMPLETE "Done"', 'COMPLETE "Installed"'))
    ends = {box.lines[1]: box.mark for box in found.boxes if box.mark}
    assert ends == {"Installed": "added", "Done": "removed"}


def test_the_end_of_a_nested_runbook_may_say_something_else(tmp_path: Path) -> None:
    text, nested = "## 1. A\n\n- x.runbook.md\n", '## 1. B\n\n```sh\ntrue\n```\n\n- PASS: COMPLETE "Good"\n'
    old = drawn(tmp_path, text, {"x.runbook.md": nested})
    new = drawn(tmp_path, text, {"x.runbook.md": nested.replace("Good", "Fine")})
    assert [box.lines for box in both(old, new).boxes if box.mark] == [("COMPLETE", "Fine", "~ changed: message")]


def test_a_run_that_begins_elsewhere_is_marked(tmp_path: Path) -> None:
    step = "## {0}. {1}\n\n```sh\n{1}\n```\n\n- PASS: STOP\n- FAIL: GOTO {2}\n\n"
    old = step.format(1, "A", 2) + step.format(2, "B", 1)
    found = shown(tmp_path, step.format(1, "B", 2) + step.format(2, "A", 1), old)
    assert marks(found)["1"] == "changed"
    assert "starts" in " ".join(found.boxes[0].lines)


@pytest.mark.most(10)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_a_runbook_with_itself_does_not_differ_and_is_its_picture(case: Drawn) -> None:
    picture = of_case(case)
    assert not difference(picture, picture)
    assert both(picture, picture) == picture


@pytest.mark.most(10)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(pair=pairs)
def test_nothing_is_lost_and_nothing_leads_nowhere(pair: tuple[Drawn, Drawn]) -> None:
    old, new = map(of_case, pair)
    found, matched = both(old, new), difference(old, new).matched
    ids = [box.node.id for box in found.boxes]
    assert len(set(ids)) == len(ids)
    assert {end for arrow in found.arrows for end in (arrow.source, arrow.target)} <= set(ids)
    assert {box.frame for box in found.boxes} <= {"", *(frame.id for frame in found.frames)}
    assert sum(isinstance(item, Box) for _, item in outline(found)) == len(ids)
    assert [box.node for box in found.boxes if box.mark != "removed"] == [box.node for box in new.boxes]
    stayed = (arrow for arrow in found.arrows if arrow.mark != "removed")
    unmarked = [replace(arrow, said=arrow.said[1:], mark="") if arrow.mark else arrow for arrow in stayed]
    assert unmarked == list(new.arrows)
    gone = [box.node for box in old.boxes if box.node.id not in matched]
    assert [box.node.task for box in found.boxes if box.mark == "removed"] == [node.task for node in gone]
