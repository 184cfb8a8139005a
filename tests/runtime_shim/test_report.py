"""Reports and times of runs: what they show, hostile text, long runs, and journals of older versions."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from runtime_shim.engine.journal import Record
from runtime_shim.engine.state import State
from runtime_shim.engine.times import timed
from runtime_shim.operator.report import LONGEST_REPORT, facts_of, in_markdown, report_lines
from tests.runtime_shim.operator import codes
from tests.support.process import Place, Table, ask, program, shell

HOSTILE = """\
<img src=x onerror=alert(1)> <!-- @octocat @org/team #12 GH-34 !5 www.evil.example https://evil.example a@b.example \
[a](javascript:x) ![b](c) **bold** _i_ `code` | cell \\| ~~gone~~ $x$ &lt; \x1b[31mred\x1b]8;;http://x\x07 \u202eabc
# heading
"""
LOG = "installing 1.5.0\n```\n````text\n\x1b[31mpod: CrashLoopBackOff\x1b[0m @all\n10%\r20%\r100%\n" + "x" * 5000


class Pages(SingleFileSnapshotExtension):
    """A snapshot is a page of Markdown."""

    _write_mode = WriteMode.TEXT
    file_extension = "md"


def at(seconds: int) -> str:
    """A time of a record."""
    return (datetime(2026, 11, 28, 2, tzinfo=UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def begin(**more: object) -> Record:
    """The first record."""
    about: Record = {"kind": "begin", "run": "20261128T021407Z-8c379aba", "time": at(847), "condition": "running"}
    steps = {"name": "payments", "source": "payments.runbook.md", "program": "e1530acc" * 8, "nodes": {}, "steps": []}
    return {**about, **steps, "registers": {"VERSION": "1.5.0", "3 retries": 0}, "node": "1", **more}


def done(
    name: str, title: str, outcome: str, seconds: float, ended: int, then: str = "CONTINUE", **more: object
) -> Record:
    """The record of a step."""
    about: Record = {"kind": "done", "node": name, "title": title, "attempt": 1, "instances": {}, "outcome": outcome}
    return {
        **about, "how": "", "says": then, "seconds": seconds, "next": "9", "changed": {},
        "condition": "running", "time": at(ended), **more,
    }  # fmt: skip


FAILED = {"how": "exit code 1", "then": "RETRY 2"}
RUN: list[Record] = [
    begin(),
    done("1", "Measure the error rate", "pass", 1.0, 848, condition="waiting"),
    done("2", "Does the database accept connections?", "pass", 0.0, 1532, how="answered", by="alice",
         note="pgbouncer shows 40 idle connections"),
    {"kind": "process", "pid": 12, "since": 3.0, "time": at(1540)},
    done("3", "Install 1.5.0", "fail", 1.0, 1542, **FAILED),
    done("3", "Install 1.5.0", "fail", 1.0, 1543, **FAILED, attempt=2),
    {"kind": "resume", "condition": "running", "by": "bob", "time": at(1600), "note": "the node is back"},
    done("3", "Install 1.5.0", "fail", 1.0, 1643, **{**FAILED, "then": "GOTO Rollback"}, attempt=3),
    done("Rollback", "", "pass", 1.0, 90_000, then="STOP", condition="stop", message="Rolled back to 1.4.2"),
]  # fmt: skip
TABLE: Table = {"title": "Payments are failing", "nodes": {"2": {"task": "ask", "question": "yes/no"}}}


def facts(records: list[Record] = RUN, table: Table = TABLE, log: str = "") -> Table:
    """The facts of a run."""
    state = State(records)
    return facts_of(table, records, state, state.condition, lambda number, _: log or f"installing {number > 4}\n")


def page(records: list[Record] = RUN, table: Table = TABLE, log: str = "") -> str:
    """The report of a run."""
    return "\n".join(report_lines(facts(records, table, log)))


def shown(text: str) -> tuple[set[str], str]:
    """The kinds of tokens of Markdown, and the text outside of code blocks."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inner = [one for token in tokens for one in (token.children or [token])]
    return {one.type for one in inner}, "\n".join(one.content for one in inner if one.type == "text")


def test_a_report_is_as_the_golden_page(snapshot: SnapshotAssertion) -> None:
    assert page() == snapshot.use_extension(Pages)


def test_a_question_starts_when_the_step_before_it_ended() -> None:
    found = [(one["node"], one["started"][11:19], one["took"]) for one in timed(State(RUN))]
    assert found[:3] == [("1", "02:14:07", 1.0), ("2", "02:14:08", 684.0), ("3", "02:25:41", 1.0)]
    assert "**WAITING** at 9" in page(RUN[:2])
    assert "# Payments are failing: RUNNING" in page([begin()]), "a run without steps has a report too"


def test_a_journal_without_times_has_durations() -> None:
    records = [{key: one[key] for key in one if key != "time" or one["kind"] == "begin"} for one in RUN]
    text = page(records)
    assert "|  | 1 Measure the error rate | PASS | 1.0 s | CONTINUE |" in text
    assert "- **alice**: 2 Does the database accept connections? **YES** after 0.0 s\n" in text
    assert all("started" not in one for one in timed(State(records)))
    for time in ("", "x", 5, None, "2026-99-28T02:14:07.000000Z", "0001-01-01T00:00:00.000000Z"):
        assert "1 Measure" in page([RUN[0], {**RUN[1], "time": time, "seconds": 10**8}]), "what is no time is left out"


def test_hostile_text_is_only_text() -> None:
    hostile = {"title": HOSTILE, "how": HOSTILE, "then": HOSTILE, "by": HOSTILE, "note": HOSTILE, "message": HOSTILE}
    plain = {"title": "t", "how": "h", "then": "s", "by": "b", "note": "n", "message": "m"}

    def made(about: dict[str, str]) -> str:
        start = begin(run=about["title"], source=about["title"], registers={about["title"]: about["title"]})
        records = [start, done(about["title"], outcome="fail", seconds=1, ended=900, **about)]
        records.append(done("4", about["title"], "fail", 1.0, 950, how=about["how"], remarks=[about["note"]]))
        records[-1].update(condition="stop", message=about["message"], next="STOP")
        return page(records, {"title": about["title"], "nodes": {}}, LOG)

    kinds, text = shown(made(hostile))
    assert kinds == shown(made(plain))[0]
    assert kinds.isdisjoint({"link_open", "image", "html_inline", "html_block", "code_inline", "s_open", "em_open"})
    assert not re.search(r"@\w|#\w|!\d|gh-\d|://|www\.|[\x1b\u202e]", text, re.IGNORECASE)
    assert "<img src=x onerror=alert(1)>" in text, "people see the text"
    assert made(hostile).count("\n") == made(plain).count("\n")


@given(st.text(st.sampled_from("<>&|`*_[]()#@!~$\\:/-+=.1aw \n\t\x1b\u200b\u202e"), max_size=40))
def test_any_text_stays_in_its_cell(text: str) -> None:
    kinds, found = shown(f"| a | {in_markdown(text)} | b |\n| --- | --- | --- |\n")
    assert kinds <= {"table_open", "thead_open", "tr_open", "th_open", "text", "th_close", "tr_close", "thead_close",
                     "table_close", "inline", "text_special"}  # fmt: skip
    assert not re.search(r"@\w|#\w|://|www\.", found)


def test_a_log_cannot_close_its_block() -> None:
    text = page(log=LOG)
    (block,) = re.findall(r"^`````text\n(.*?)\n`````$", text, re.MULTILINE | re.DOTALL)
    lines = block.split("\n")
    assert lines[:5] == ["installing 1.5.0", "```", "````text", "pod: CrashLoopBackOff @all", "100%"]
    assert len(lines[5]) == 201
    assert text.count("The log is the same as before.") == 2


def test_a_long_run_has_a_short_report() -> None:
    """The steps in the middle are left out first, then decisions and failures."""
    few = page([begin(), *[done("1", f"Step {number}", "pass", 1.0, 900 + number) for number in range(3000)]])
    assert len(few) <= LONGEST_REPORT
    assert ("Step 0 |" in few, "Step 1500 |" in few, "Step 2999 |" in few) == (True, False, True)
    assert len(few) > LONGEST_REPORT - 3000
    bad = [
        done("1", f"{HOSTILE * 9}{number}", "fail", 1.0, 900 + number, how=HOSTILE * 9, note=HOSTILE * 9)
        | ({"by": HOSTILE * 9} if number % 2 else {})
        for number in range(200)
    ]
    start = begin(registers={f"{HOSTILE}{number}": HOSTILE * 9 for number in range(99)})
    bad[-1].update(condition="stop", message=HOSTILE * 99)
    assert len(page([start, *bad], {"title": HOSTILE * 99, "nodes": {}}, LOG)) <= LONGEST_REPORT


TWO = {"1": shell("echo one; exit 3", "COMPLETE", "2"), "2": ask("COMPLETE", question="yes/no")}


@pytest.mark.process
def test_looking_changes_nothing_and_gives_the_same_bytes(tmp_path: Path) -> None:
    place = Place(tmp_path, program(TWO))
    assert codes(place, "report", "run --logs", "answer 2 yes --by ann --note 'it is up'") == [2, 75, 0]
    times = [record["time"] for record in place.records() if record["kind"] in ("begin", "done", "entry")]
    assert (len(times), times) == (3, sorted(times))
    first = place.run("report").out
    status = place.run("status").out.partition("\nWhat to do next:")[0]
    assert place.run("run", "--logs").code == 75
    (one,) = json.loads(place.run("history", "--json").out)
    run = one["run"]
    assert (one["state"], one["version"], one["where"]) == ("complete", "this version", "all done")
    assert place.run("history", run).out == status, "the history shows a run as the status did"
    facts: Any = json.loads(place.run("history", run, "--json").out)
    assert facts["next"] == []
    assert facts["finished"][1]["started"] == facts["finished"][0]["time"]
    assert re.fullmatch(r"run \S+, since [0-9: -]+ UTC", place.run("status").out.splitlines()[1])
    paths = [path for path in (tmp_path / ".rdc").rglob("*") if path.is_file()]
    before = [(path, path.read_bytes(), path.stat().st_mtime_ns) for path in paths]
    again = [place.run("report", run).out for _ in range(2)]
    assert again == [first, first]
    assert "```text\none\n```" in first
    assert "**ann**: 2 Review **YES** after " in first
    for words in (("history",), ("history", run), ("history", run, "--json"), ("report", "--json"), ("status",)):
        assert place.run(*words).code == 0, words
    assert sorted(paths) == sorted(path for path in (tmp_path / ".rdc").rglob("*") if path.is_file())
    assert [(path, path.read_bytes(), path.stat().st_mtime_ns) for path in paths] == before
    refused = place.run("report", "../../x")
    assert (refused.code, "no run ../../x is here" in refused.last) == (2, True)
