"""Questions that reviewers answer: only an approval is YES, nothing runs twice, and the workspace goes on."""

import re
import shutil
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.github.native import AGAIN, REVIEWERS, Native, command, errors, noted, prepared, question, result

pytestmark = pytest.mark.tool

DOCUMENT = (
    command(1, 'echo 1 >> "$LOG"; echo built > product', 'FAIL: STOP "It cannot be built"')
    + question(2, 'NO: STOP "Not wanted"')
    + command(
        3,
        'echo "3 $(cat product)" >> "$LOG"; test ! -e broken',
        'PASS: COMPLETE "It is out"',
        'FAIL: STOP "It is broken"',
    )
)
OPEN: dict[str, Any] = {"environments": {}, "unprotected": ["approval"]}
ENDS = {
    "approved": (["approved"], {}, "success", ["1", "3 built"], "COMPLETE It is out"),
    "rejected": (["rejected"], {}, "failure", ["1"], "STOP Not wanted"),
    "nobody in 30 days": (["refused"], {}, "failure", ["1"], "STOP Not wanted"),
    "bypassed": (["bypassed"], {}, "failure", ["1"], REVIEWERS),
    "too late": (["late"], {}, "failure", ["1"], "download artifact"),
    "no reviewers": ([], OPEN, "failure", [], "required reviewers"),
    "no environment": ([], {"environments": {}}, "failure", [], "required reviewers"),
    "no reviewers, no answer": ([], {**OPEN, "failing": {"environments": 503}}, "failure", ["1"], REVIEWERS),
    "no list of approvals": (["approved"], {"failing": {"approvals": 503}}, "failure", ["1"], REVIEWERS),
    "no connection": (["approved"], {"failing": {"approvals": 0}}, "failure", ["1"], REVIEWERS),
    "a page for people": (["approved"], {"failing": {"approvals": 200}}, "failure", ["1"], REVIEWERS),
    "out of time": (["approved"], {"expire": "decide_2/approved"}, "cancelled", ["1"], ""),
    "canceled": ([], {"cancel": "decide_2"}, "cancelled", ["1"], ""),
    "canceled before": ([], {"cancel": "JOB/build"}, "cancelled", ["1"], ""),
}


def ended(native: Native, name: str) -> None:
    decisions, given, conclusion, log, fragment = ENDS[name]
    if "cancel" in given:
        first = next(iter(native.jobs))
        step = next(step["id"] for step in native.jobs[first]["steps"] if "built" in step.get("run", ""))
        given = {"cancel": given["cancel"].replace("JOB/build", f"{first}/{step}")}
    run = native(*decisions, **given)
    assert (run.conclusion, native.log) == (conclusion, log), run.log
    assert fragment in run.summary + errors(run) + run.log
    is_no = fragment == "STOP Not wanted"
    assert result(run, 2, "rejected") == ("failure" if is_no else "skipped")
    assert ("Not wanted" in run.summary) == is_no, "nothing but a rejection is NO"
    assert run.jobs["rerun"].result == "skipped"


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ENDS)
def test_only_an_approval_is_yes_and_only_a_rejection_is_no(name: str, tmp_path: Path) -> None:
    ended(prepared(tmp_path, DOCUMENT), name)


ATTEMPTS = ("approved", "rejected", "no reviewers", "no list of approvals", "canceled before")


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_further_attempt_runs_nothing_and_is_red(name: str, tmp_path: Path) -> None:
    native = prepared(tmp_path, DOCUMENT)
    ended(native, name)
    done, single = native.log, native.jobs if name in ATTEMPTS[:2] else ()
    shutil.copytree(tmp_path / "history", tmp_path / "kept")
    for rerun in (*([] if name == "approved" else [True]), "all", *single):
        shutil.rmtree(tmp_path / "history")
        shutil.copytree(tmp_path / "kept", tmp_path / "history")
        again = native("approved", "approved", rerun=rerun)
        assert native.log == done, f"a re-run of {rerun} runs a step"
        if again.jobs["rerun"].result == "skipped":
            assert rerun == "rejected_2", "only what nothing depends on leaves the run as it was"
            continue
        assert (again.conclusion in {"failure", "cancelled"}, AGAIN in errors(again)) == (True, True)


def test_a_further_attempt_after_an_end_of_a_command(tmp_path: Path) -> None:
    native = prepared(tmp_path, DOCUMENT.replace("echo built", "touch broken; echo built"))
    assert "STOP It is broken" in native("approved").summary
    for rerun in (True, "all"):
        again = native(rerun=rerun)
        assert (again.conclusion, AGAIN in errors(again), len(native.log)) == ("failure", True, 2)


def test_a_command_that_stops_before_the_question(tmp_path: Path) -> None:
    native = prepared(tmp_path, DOCUMENT.replace("> product", "> product; false"))
    run = native()
    assert (run.conclusion, "STOP It cannot be built" in run.summary) == ("failure", True)
    assert (result(run, 2), result(run, 2, "rejected")) == ("skipped", "skipped")
    assert AGAIN in errors(native("approved", rerun=True))
    assert native.log == ["1"]


def test_the_example_asks_before_it_promotes(tmp_path: Path) -> None:
    native = prepared(tmp_path, (ROOT / "examples" / "database-failover.runbook.md").read_text(encoding="utf-8"))
    assert len(native.text.splitlines()) <= 300
    (tmp_path / "repository" / "cluster").mkdir()
    (tmp_path / "repository" / "cluster" / "primary").write_text("db1\n", encoding="utf-8")
    (tmp_path / "repository" / "cluster" / "replicas").write_text("db2 12\ndb3 3\n", encoding="utf-8")
    run = native("approved")
    assert "COMPLETE db3 is the primary; repair db1" in run.summary
    assert "### Decide: 3. Make db3 the primary?\n" in run.summary
    assert run.jobs["decide_3"].name == "3. Make db3 the primary?"
    promoted = [step.outcome for job in run.jobs.values() for step in job.steps if step.name == "4. Promote db3"]
    assert promoted == ["success"]


TWO = (
    noted(1)
    + question(2, 'NO: STOP "Not first"')
    + noted(3)
    + question(4, 'NO: STOP "Not second"')
    + noted(5, 'PASS: COMPLETE "Both"')
)
ROW = question(1, 'NO: STOP "Not first"') + question(2, 'NO: STOP "Not second"') + noted(3, 'PASS: COMPLETE "Both"')


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("name", "decisions", "log", "fragment"),
    [
        ("two", "approved approved", "135", "COMPLETE Both"),
        ("two", "approved rejected", "13", "STOP Not second"),
        ("two", "approved bypassed", "13", REVIEWERS),
        ("two", "approved late", "13", "download artifact"),
        ("row", "approved approved", "3", "COMPLETE Both"),
        ("row", "rejected", "", "STOP Not first"),
        ("row", "approved bypassed", "", REVIEWERS),
    ],
)
def test_an_approval_counts_once(name: str, decisions: str, log: str, fragment: str, tmp_path: Path) -> None:
    native = prepared(tmp_path, {"two": TWO, "row": ROW}[name])
    assert ("upload-artifact" in native.text) == (name == "two"), "questions in a row have no workspace"
    run = native(*decisions.split())
    assert "".join(native.log) == log
    assert fragment in run.summary + errors(run) + run.log
    assert ("STOP" in run.summary) == fragment.startswith("STOP")


def test_an_approval_counts_for_its_environment_and_each_needs_reviewers_before_anything_runs(tmp_path: Path) -> None:
    native = prepared(tmp_path, TWO, {"steps": {"4": {"approval-environment": "production"}}})
    assert [job["environment"] for job in native.jobs.values() if "environment" in job] == ["approval", "production"]
    for number, (missing, other) in enumerate(permutations(("approval", "production")), 1):
        run = native(environments={other: ["approved"]}, unprotected=[missing], run_id=number)
        assert (run.conclusion, native.log) == ("failure", [])
        assert f'"{missing}"' in errors(run)
    run = native(environments={"approval": ["approved"], "production": ["bypassed"]}, run_id=3)
    assert "".join(native.log) == "13"
    assert REVIEWERS in errors(run)
    run = native(environments={"approval": ["approved"], "production": ["approved"]}, run_id=4)
    assert "".join(native.log) == "13135"
    assert "COMPLETE Both" in run.summary


BRANCHES = (
    command(1, 'echo 1 >> "$LOG"; test "$SMALL" = yes', "PASS: CONTINUE", "FAIL: GOTO 4")
    + question(2, 'NO: STOP "Not the small one"')
    + noted(3, "PASS: COMPLETE Small")
    + question(4, 'NO: STOP "Not the large one"')
    + noted(5, "PASS: COMPLETE Large")
)


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("small", "decision", "log", "fragment"),
    [
        ("yes", "approved", "13", "COMPLETE Small"),
        ("no", "rejected", "1", "STOP Not the large one"),
        ("no", "bypassed", "1", REVIEWERS),
    ],
)
def test_questions_of_branches(small: str, decision: str, log: str, fragment: str, tmp_path: Path) -> None:
    native = prepared(tmp_path, BRANCHES)
    run = native(decision, env={"SMALL": small})
    assert "".join(native.log) == log, run.log
    assert fragment in run.summary + errors(run)
    done = "".join(native.log)
    assert (native(decision, env={"SMALL": small}, rerun="all").conclusion, "".join(native.log)) == ("failure", done)


def test_yes_only_ends(tmp_path: Path) -> None:
    native = prepared(tmp_path, noted(1) + question(2, 'YES: COMPLETE "Decided"', 'NO: STOP "Not wanted"'))
    run = native("approved")
    assert ("COMPLETE Decided" in run.summary, run.conclusion) == (True, "success")
    assert result(run, 2, "rejected") == "skipped", "the answer was YES"
    assert "STOP Not wanted" in native("rejected", run_id=2).summary
    for given in ({"failing": {"approvals": 503}}, {}):
        run = native("bypassed", run_id=3, **given)
        assert (run.conclusion, "Decided" in run.summary, "Not wanted" in run.summary) == ("failure", False, False)


SEEN = 'printf "%s|%s|%s\n" "${tag-unset}" "${a-unset}" "${b-unset}" >> "$LOG"'
SETS = f'{SEEN}; [ $RDC_ATTEMPT -gt 1 ] || exit; cat "$VALUE" >> "$RDC_OUTPUT"; [ "${{a+x}}" ] || grep -q c= "$VALUE"'
VALUES = (
    "---\nrdc:\n  inputs: {tag: {required: false}}\n  outputs: [a, b]\n---\n\n"
    + command(1, SETS, 'FAIL: RETRY 2 STOP "Not set"')
    + question(2, 'NO: STOP "Not {{a}} {{b}}"')
    + command(3, SEEN)
    + question(4, 'NO: STOP "Not {{a}} {{b}}"', title="Take {{a}} {{tag}}?")
    + command(5, f'{SEEN}; printf "b<<END\n%s\nEND\n" "$RDC_TITLE" >> "$RDC_OUTPUT"', title="Use {{a}} {{b}} {{tag}}")
    + command(6, "true", 'PASS: COMPLETE "Now {{b}}"')
)


@pytest.mark.parametrize(
    ("given", "tag", "seen", "shown"),
    [
        ("a=\n", "", "unset||unset", " {{b}}"),
        ("a=1\na=2\n", "v1", "v1|2|unset", "2 {{b}}"),
        ("b=\na<<E\nx\n\nrdc\nE\n", "$(id)", "$(id)|x\n\nrdc|", "x rdc "),
        ("c=2\n", "", "", ""),
    ],
)
def test_values_are_the_same_after_questions(given: str, tag: str, seen: str, shown: str, tmp_path: Path) -> None:
    native, unset, given_by = prepared(tmp_path, VALUES), f"{tag or 'unset'}|unset|unset", tmp_path / "value"
    given_by.write_text(given, encoding="utf-8")
    more = {"inputs": {"tag": tag}, "env": {"VALUE": str(given_by)}}
    runs = [native("approved", last, run_id=number, **more) for number, last in enumerate(("approved", "rejected"), 1)]
    wanted = [f"COMPLETE Now Use {shown} {tag or '{{tag}}'}", f"STOP Not {shown}".rstrip()]
    ends = [re.sub(r"\\(.)", r"\1", run.summary.splitlines()[-1]).rstrip() for run in runs]
    log = [unset] * 2 + [seen] * 3 + [unset] * 2 + [seen] * 2 if seen else [unset] * 6
    assert (ends, native.log) == (wanted if seen else ["STOP Not set"] * 2, "\n".join(log).split("\n")), runs[0].log


SECRET = "s3cret/+*.[x]$\\value"
SHOW = command(3, '{ find . -path ./.git -prune -o -print | LC_ALL=C sort; } >> "$LOG"', "PASS: COMPLETE")


def made(folder: Path, script: str, after: str = SHOW, options: Mapping[str, object] | None = None) -> Native:
    """A workflow that makes files, asks, and looks at what there is."""
    return prepared(folder, command(1, script) + question(2, 'NO: STOP "Not wanted"') + after, options)


MAKES = """\
git init -q . && git config user.email a@b.c && git config user.name a && printf 'kept out' > '.hidden file'
mkdir -p 'a folder/inner' empty && echo '#!/bin/sh
echo it runs' > 'a folder/inner/run me' && chmod 750 'a folder/inner/run me'
ln -s 'a folder/inner/run me' link && ln -s /nowhere dangling && ln 'a folder/inner/run me' hard
printf 'x' > "$(printf 'two\\nlines')" && printf 'y' > ./-n
git add . && git commit -qm 'Made by a step' && echo changed >> link && touch -d '2020-01-02 03:04' dated"""
LOOKS = """\
{ ./link | head -n 1; git log --format=%s; git status --porcelain -uno; readlink link dangling
stat -c '%a %n' 'a folder/inner/run me'; stat -c '%Y' dated; ls -A empty; cat '.hidden file'; echo; ls --quoting-style=c
} >> "$LOG"
"""
FOUND = """\
it runs
Made by a step
 M "a folder/inner/run me"
 M hard
a folder/inner/run me
/nowhere
750 a folder/inner/run me
1577934240
kept out
"-n"
"a folder"
"dangling"
"dated"
"empty"
"hard"
"link"
"of the repository"
"two\\nlines"
"""


def test_all_that_is_in_the_workspace_goes_on(tmp_path: Path) -> None:
    native = made(tmp_path, MAKES, command(3, LOOKS.strip(), "PASS: COMPLETE"))
    (tmp_path / "repository" / "of the repository").write_text("x", encoding="utf-8")
    run = native("approved", env={"TZ": "UTC"})
    assert run.conclusion == "success", run.log
    assert "\n".join([*native.log, ""]) == FOUND


def test_the_next_part_checks_out_nothing(tmp_path: Path) -> None:
    native = made(tmp_path, "rm removed; touch added")
    (tmp_path / "repository" / "removed").touch()
    native("approved")
    assert (native.log, native.text.count("actions/checkout@")) == ([".", "./added"], 1)


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("carry", "found"),
    [
        (["out"], [".", "./out", "./out/a b", "./source"]),
        (["out/a b", "other file"], [".", "./other file", "./out", "./out/a b", "./source"]),
        (False, [".", "./source"]),
        (None, [".", "./.cache", "./other file", "./out", "./out/a b"]),
    ],
)
def test_the_author_says_what_goes_on(carry: object, found: list[str], tmp_path: Path) -> None:
    """Without the whole workspace, the steps after the question have the repository."""
    options = {} if carry is None else {"carry": carry}
    native = made(tmp_path, "mkdir out .cache; touch 'out/a b' 'other file'; rm source", options=options)
    (tmp_path / "repository" / "source").touch()
    run = native("approved")
    assert (run.conclusion, native.log) == ("success", found), run.log
    assert ("upload-artifact" in native.text) == (carry is not False)


def test_what_is_to_go_on_and_is_missing_is_an_error(tmp_path: Path) -> None:
    run = made(tmp_path, "true", options={"carry": ["out"], "secrets": ["KEY"]})("approved", secrets={"KEY": SECRET})
    assert (run.conclusion, result(run, 2)) == ("failure", "skipped")
    assert "out: " in run.log
    assert "has the secret" not in errors(run)


KEY = {"KEY": SECRET}
WRITE = 'printf "%s" "$KEY" > file'
WRITES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "a word of a hidden file": ('mkdir -p .aws && echo "machine x password $KEY end" > .aws/credentials', KEY),
    "a name with spaces": ('mkdir "a b" && echo "$KEY" > "a b/-c d"', KEY),
    "bytes": ('printf "\\0\\377%s\\0" "$KEY" > file', KEY),
    "the configuration of git": ('git init -q . && echo "header = AUTHORIZATION: $KEY" >> .git/config', KEY),
    "a secret like an option": (WRITE, {"KEY": "-e"}),
    "a file that nobody may read": ('echo "$KEY" > file && chmod 000 file', KEY),
    "a secret of several lines": (WRITE, {"KEY": "-----BEGIN KEY-----\nabc\n-----END KEY-----\n"}),
    "the name line": (WRITE.replace("KEY", "line"), {"KEY": "the secret KEY", "line": "the secret line"}),
    "the name name": (WRITE.replace("KEY", "name"), {"KEY": "the secret KEY", "name": "the secret name"}),
    "the name NAMES": (WRITE.replace("KEY", "NAMES"), {"KEY": "the secret KEY", "NAMES": "the secret NAMES"}),
}


@pytest.mark.share(2)
@pytest.mark.parametrize("place", WRITES)
def test_a_workspace_with_a_secret_is_not_saved(place: str, tmp_path: Path) -> None:
    script, secrets = WRITES[place]
    native = made(tmp_path, script, options={"secrets": [*secrets]})
    run = native("approved", secrets={name.upper(): value for name, value in secrets.items()})
    assert (run.conclusion, result(run, 2), native.log) == ("failure", "skipped", []), run.log
    assert SECRET not in run.log + errors(run) + run.summary
    files = [path for path in (tmp_path / "history").rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert "secret" in errors(run).lower()


def test_a_workspace_without_secrets_goes_on(tmp_path: Path) -> None:
    script = 'echo "${#KEY} ${#OTHER}" > file; ln -s /etc/passwd link; mkfifo pipe'
    native = made(tmp_path, script, options={"secrets": ["KEY", "OTHER"]})
    run = native("approved", secrets={"KEY": SECRET})
    assert (run.conclusion, len(native.log)) == ("success", 4), "one of the secrets is not set: " + run.log


def test_a_secret_outside_of_what_goes_on_does_not_count(tmp_path: Path) -> None:
    script = 'echo "$KEY" > file; mkdir out; touch out/a'
    for number, carry in enumerate((["out"], False)):
        (tmp_path / str(number)).mkdir()
        native = made(tmp_path / str(number), script, options={"secrets": ["KEY"], "carry": carry})
        assert native("approved", secrets={"KEY": SECRET}).conclusion == "success"


def test_an_output_that_is_a_secret_is_not_shown(tmp_path: Path) -> None:
    document = (
        "---\nrdc:\n  outputs: [what]\n  secrets: [KEY]\n---\n\n"
        + command(1, 'echo "what=$KEY" >> "$RDC_OUTPUT"')
        + question(2, 'NO: STOP "Not {{what}}"', title="Publish {{what}}?")
        + noted(3, "PASS: COMPLETE")
    )
    run = prepared(tmp_path, document)("approved", secrets={"KEY": SECRET})
    assert SECRET not in run.jobs["decide_2"].name + run.summary + run.log
