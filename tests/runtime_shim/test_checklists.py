"""Checklists: items are confirmed in order, who and when is kept, and PASS needs all of them."""

import json
import random
import time
from pathlib import Path

import pytest

from runtime_shim.values.secrets import masked, masking
from tests.runtime_shim.operator import at_terminal, codes, talk, waiting
from tests.support.process import Place, Table, ask, kill, program, shell

pytestmark = pytest.mark.process

ITEMS = ["The backup is there", "The pager is quiet", "Nobody deploys"]
RELEASE = program({"1": ask("2", items=ITEMS), "2": shell("echo deployed >> log", "COMPLETE")})


def replies(place: Place) -> list[tuple[int, str]]:
    """The items that the journal has, in its order."""
    return [(record["item"], record["reply"]) for record in place.records() if record["kind"] == "item"]


def test_items_are_confirmed_one_by_one_with_who_and_when(tmp_path: Path) -> None:
    place = waiting(tmp_path, RELEASE)
    first = place.run("answer", "1", "done", "--item", "1", "--by", "ann", "--note", "saw it")
    assert (first.code, place.walk()) == (0, [])
    assert "to confirm the item: " in first.err
    assert "answer 1 done --item 2" in first.err
    assert place.run("resume").code == 75, "it goes on at the next open item"
    status = place.run("status").out
    assert "  [x] 1. The backup is there, by ann: saw it, 20" in status
    assert "  [ ] 2. The pager is quiet\n" in status
    assert place.run("answer", "1", "n/a: no pager", "--item", "2", "--by", "bob").code == 0
    shown = json.loads(place.run("status", "--json").out)["items"]
    assert [(item["item"], item.get("reply"), item.get("by")) for item in shown] == [
        (1, "done", "ann"), (2, "n/a: no pager", "bob"), (3, None, None)
    ]  # fmt: skip
    assert codes(place, "answer 1 Y --item 3", "resume") == [0, 0]
    assert place.walk() == ["1 pass", "2 pass"]
    done = next(record for record in place.records() if record["kind"] == "done")
    assert [(item["text"], item["reply"]) for item in done["items"]] == [
        *zip(ITEMS, ["done", "n/a: no pager", "done"], strict=True)
    ]
    assert all(item["time"].endswith("Z") and item["by"] for item in done["items"])
    assert "        [-] 2. The pager is quiet, n/a: no pager, by bob, 20" in place.run("status").out


def test_what_confirms_nothing_is_refused(tmp_path: Path) -> None:
    place = waiting(tmp_path, RELEASE)
    replies = "expected done, fail, or n/a: and the reason to skip the item"
    for words, reason in (
        *((words, "1 has open items: 3") for words in (["pass"], ["yes"], ["done"], ["n/a: none"])),
        (["done", "--item", "2"], "the next open item is [ ] 1. The backup is there; it is not 2"),
        (["done", "--item", "\x1b[31m"], "the next open item is [ ] 1. The backup is there; it is not ?[31m"),
        (["maybe", "--item", "1"], f"maybe: {replies}"),
        (["n/a:", "--item", "1"], f"n/a:: {replies}"),
        (["done", "--item", "1", "--all"], "use --item or --all, for a step with open items"),
    ):
        refused = place.run("answer", "1", *words)
        assert (refused.code, refused.last) == (2, f"rdc: error: {reason}")
        assert len(place.records()) == 1
        if "open items: " in reason:
            assert all(f"rdc: [ ] {number}. {item}\n" in refused.err for number, item in enumerate(ITEMS, 1))
            assert "answer 1 pass --all" in refused.err


def test_all_are_confirmed_with_one_name_and_note(tmp_path: Path) -> None:
    place = waiting(tmp_path, RELEASE)
    place.run("answer", "1", "done", "--item", "1", "--by", "ann")
    assert place.run("answer", "1", "pass", "--all", "--by", "bob", "--note", "checked the rest").code == 0
    record = place.records()[-1]
    assert (record["by"], record["note"]) == ("bob", "checked the rest")
    found = [(item["reply"], item.get("by")) for item in record["items"]]
    assert found == [("done", "ann"), ("done", None), ("done", None)]
    assert "by bob: checked the rest" in place.run("status").out
    assert codes(place, "resume", "run --agent 'cat > prompt; echo PASS'") == [0, 0]
    record = next(record for record in place.records() if record["kind"] == "done")
    assert [item["reply"] for item in record["items"]] == ["done"] * 3
    assert record["how"] == "answered by the agent"
    place.write(program({"1": ask("COMPLETE")}))
    assert "--item" not in place.run("answer", "--help").out, "without a list it does not know the options"
    assert codes(place, "run", "answer 1 pass --item 1") == [75, 2]


@pytest.mark.parametrize("registers", [{}, {"name": None}])
def test_fail_stays_fail_at_any_time(tmp_path: Path, registers: Table) -> None:
    """Also in a program with strings."""
    place = waiting(tmp_path, {**RELEASE, "registers": registers})
    place.run("answer", "1", "done", "--item", "1")
    assert place.run("answer", "1", "no", "--item", "2", "--note", "it rings").last == "rdc: STOP gave up"
    assert "item 2 failed: The pager is quiet\n" in place.run("status").out
    assert codes(place, "run", "answer 1 fail") == [75, 0]
    assert place.walk() == ["1 fail"]


def test_the_terminal_asks_item_by_item(tmp_path: Path) -> None:
    place = Place(tmp_path, RELEASE)
    screen = at_terminal(place)
    talk(screen, r"1/3 The backup is there \[y, n, n/a: reason\] ", "y\n", r"2/3 .*\] ", "n/a\n")
    talk(screen, r"expected done[^$]*2/3 .*\] ", "n/a: no pager\n", r"3/3 .*\] ", "\x04")
    assert screen.close() == 75
    assert replies(place) == [(1, "done"), (2, "n/a: no pager")]
    assert all(record["by"] for record in place.records() if record["kind"] == "item")
    screen = at_terminal(place, "resume")
    talk(screen, r"3/3 Nobody deploys .*\] ", "n\n")
    assert screen.close() == 1
    assert place.walk() == ["1 fail"]


def test_a_file_of_answers_confirms_all_or_item_by_item(tmp_path: Path) -> None:
    place = waiting(tmp_path, RELEASE)
    (tmp_path / "some").write_text("1 --item 1 done # yes\n1 --item 2 n/a: see #12\n")
    assert codes(place, "run --dry-run --answers some", "resume --answers some") == [0, 75]
    assert replies(place) == [(1, "done"), (2, "n/a: see #12")]
    assert place.run("resume", "--answers", "some").code == 75, "each line counts once"
    (tmp_path / "rest").write_text("pass\n")
    assert place.run("resume", "--answers", "rest").code == 0
    record = next(record for record in place.records() if record["kind"] == "done")
    assert ([item["reply"] for item in record["items"]], record["how"]) == (
        ["done", "n/a: see #12", "done"], "answered by line 1 of rest"
    )  # fmt: skip
    (tmp_path / "wrong").write_text("1 --item 2 done\n")
    refused = place.run("run", "--answers", "wrong")
    assert refused.last.startswith("rdc: error: line 1 of wrong: the next open item is [ ] 1.")


def test_each_visit_has_its_own_list(tmp_path: Path) -> None:
    retried = ask("2", items=ITEMS[:2], attempt="1 retries")
    retried["edges"].insert(1, {"on": "fail", "if": [["1 retries", "<", 2]], "do": [["1 retries", "+", 1]], "go": "1"})
    place = waiting(tmp_path, program({"1": retried, "2": ask("COMPLETE")}, {"1 retries": 0}))
    place.run("answer", "1", "done", "--item", "1")
    place.run("answer", "1", "fail")
    assert place.run("answer", "1", "done", "--item", "2").code == 2, "the list is empty again"
    place.run("answer", "1", "done", "--item", "1")
    assert codes(place, "goto 1", "answer 1 done --item 1", "answer 1 done --item 2") == [0, 0, 0]
    assert place.run("answer", "2", "pass", "--item", "1").code == 2, "it has no list"
    assert codes(place, "answer 2 pass --all", "answer 2 pass") == [2, 0]
    assert place.walk() == ["1 fail", "1 goto", "1 pass", "2 pass"]


def test_hostile_items_and_replies_are_only_text(tmp_path: Path) -> None:
    items = ["\x1b[31mred\x07 \u202eback", "- PASS: `$(touch x)`\n# y: |", "{N} %s ${{ secrets.X }}"]
    place = waiting(tmp_path, program({"1": ask("COMPLETE", items=items)}))
    skipped = place.run("answer", "1", "n/a: \x1b]0;title\x07\nrdc: COMPLETE", "--item", "1")
    shown = skipped.err + place.run("status").out + place.run("status", "--json").out + place.run("resume").err
    assert not {"\x1b", "\x07", "\u202e"} & {*shown}
    assert "n/a: ?]0;title? rdc: COMPLETE" in shown, "on one line"
    assert "[ ] 2. - PASS: `$(touch x)` # y: |\n" in shown
    assert not (tmp_path / "x").exists()


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", range(3))
def test_of_two_answers_to_an_item_one_wins_even_if_killed(tmp_path: Path, seed: int) -> None:
    place, moments = waiting(tmp_path, RELEASE), random.Random(seed)
    for number in map(str, range(1, 4)):
        rivals = [place.start("answer", "1", f"n/a: {name}", "--item", number, "--by", name) for name in ("ann", "bob")]
        time.sleep(moments.uniform(0.0, 0.25))
        for process in rivals:
            kill(process)
        before = replies(place)
        assert [item for item, _ in before] == [*range(1, len(before) + 1)], "nothing twice, in order"
        if len(before) < int(number):
            assert place.run("answer", "1", "done", "--item", number).code == 0
        assert replies(place)[: len(before)] == before, "nothing is lost"
    assert [item for item, _ in replies(place)] == [1, 2, 3]
    assert place.run("resume").code == 0, "also if it was killed between the last item and the outcome"
    assert place.walk() == ["1 pass", "2 pass"]
    record = next(record for record in place.records() if record["kind"] == "done")
    assert [(item["item"], item["reply"]) for item in record["items"]] == replies(place)


def test_a_secret_in_the_reply_to_an_item_is_masked(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE", items=ITEMS[:1])}, secrets=["TOKEN"]))
    assert place.run("run", TOKEN="hunter2").code == 75
    place.run("answer", "1", "n/a: hunter2", "--item", "1", TOKEN="hunter2")
    assert replies(place) == [(1, "n/a: ***")]
    assert place.run("resume", TOKEN="hunter2").code == 0
    stored = place.journal.read_text() + place.run("status").out + place.run("status", "--json").out
    assert "hunter2" not in stored
    assert "n/a: ***" in stored
    record = {"remarks": ("item 1 failed: hunter2",), "items": [{"reply": "n/a: hunter2"}], "notify": "echo hunter2"}
    assert "hunter2" not in str(masked(masking(["hunter2"]), record))
