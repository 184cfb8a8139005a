"""Pictures of agent workflows: keywords on arrows, entries, gates, answers that go along (W11)."""

from __future__ import annotations

from pathlib import Path

from backends.picture.model import Picture, picture
from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.program import Program
from tests.conftest import ROOT

SHIP = """
name: ship
steps:
  - name: write
    prompt: x
    report: {name: w, format: f, validation: DONE}
    next: review
  - name: review
    parallel: [{agent: security, prompt: x}, {agent: "a|b {c}", prompt: y}]
    check: all
    conditions: [{keyword: GOOD, goto: last}, {keyword: BAD, goto: write}]
  - name: last
    human: true
    prompt: x
    end: true
"""


def program(tmp_path: Path) -> Program:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "a.workflow.yaml").write_text(SHIP, encoding="utf-8")
    found = compile_file(str(tmp_path / "a.workflow.yaml")).program
    assert found
    return found


def arrows(drawn: Picture) -> set[str]:
    return {f"{one.source} {'=' if one.passes else '-'}{one.says}-> {one.target}" for one in drawn.arrows}


def test_arrows_say_the_verdict_and_whether_the_answer_goes_along(tmp_path: Path) -> None:
    found = arrows(picture(program(tmp_path)))
    assert "review =BAD · with its answer-> write" in found
    assert "review =GOOD · with its answer-> last/human" in found
    assert "last/human -APPROVED-> last" in found
    assert {one for one in found if one.endswith("-> review")} == {"write -none, ambiguous-> review"}


def test_what_breaks_down_behind_a_step_has_one_box(tmp_path: Path) -> None:
    found = arrows(picture(program(tmp_path)))
    assert "write -failed, invalid-> write/failed" in found
    assert "review -failed, ambiguous, none, invalid-> review/failed" in found
    labels = {" ".join(one.lines) for one in picture(program(tmp_path)).arrows if one.target == "review/failed"}
    assert labels == {"no clear answer"}
    assert not any("unrouted" in one for one in found)


def test_targets_show_both(tmp_path: Path) -> None:
    shown = program(tmp_path)
    dot, mermaid = (load(name).emit(shown, {}).text or "" for name in ("dot", "mermaid"))
    assert "agents security, a|b\\n{c}: all must agree" in dot
    assert dot.count("arrowtail=dot") == 3, "one of them is in the legend"
    assert "a person approves last" in dot
    assert mermaid.count("==>") == 3
    assert "agents security, a#124;b" in mermaid


def test_examples_are_drawn() -> None:
    for path in sorted((ROOT / "examples" / "workflows").glob("*.workflow.yaml")):
        found = compile_file(str(path)).program
        assert found
        assert all(box.is_reached for box in picture(found).boxes)
