"""Every comment above the author's part of programs, workers and Makefiles is true; a new one must be taught here."""

import re
from collections.abc import Mapping, Sequence

import pytest

from backends.registry import load
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from tests.conftest import ROOT
from tests.support.backend_programs import node, shell, when
from tests.support.backend_programs import program as made_of
from tests.support.comments import header as header_checks
from tests.support.comments.header import EDITING, Check, always, check_header, source
from tests.support.comments.makefile import check_makefile
from tests.support.comments.sentences import PYTHON
from tests.support.comments.workflow import bare, shown
from tests.support.golden import NAMES, PROGRAMS, program

FORMS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("python", {}), ("python", {"operator": "full"}), ("python", {"runtime": "shared"}),
    ("python", {"runtime": "script"}), ("python", {"traces": True}), ("python", {"traces": True, "runtime": "shared"}),
    ("dbos", {}), ("make", {}), ("make", {"form": "plain"}), ("make", {"operator": "full"}),
    ("make", {"state-dir": "state"}),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


OF_ALL: list[tuple[str, Check]] = [(r"\n", always), source(), *EDITING]

OF_PYTHON: list[tuple[str, Check]] = [
    *(
        (pattern.replace(" ", r"\s+").replace(".*", r"(?:.|\n)*").replace(".+", r"(?:.|\n)+") + r"(?:\s+|$)", check)
        for pattern, check in PYTHON
    ),
    *OF_ALL,
]


def top(text: str) -> list[str]:
    """Return the comments at the top of a program, without the line for the shell and the title."""
    lines = text.split("\n")
    last = next(place for place, line in enumerate(lines) if not line.startswith("#"))
    return [line for line in lines[3:last] if line]


def check_python(compiled: Program, text: str) -> None:
    check_header(compiled, text, top(text), OF_PYTHON)
    own = text[text.index(f"\ndef {compiled.kind}(") : text.index("\n# The runtime of rdc ")]
    titles = {bare(f"{group.id} {shown(group.title)}".strip()) for group in compiled.groups}
    for heading in re.findall(r"^    # (.+)$", own, re.MULTILINE):
        assert bare(heading).rstrip("…") in titles or any(
            bare(heading) == each.replace(". ", " ") for each in titles
        ), heading


@pytest.mark.share(3)
@pytest.mark.parametrize("name", [*NAMES, *PROGRAMS])
def test_every_comment_is_true(name: str) -> None:
    compiled, checked = program(name), []
    for target, options in FORMS:
        text = load(target).emit(compiled, options).text
        if text is not None:  # a script or a plain Makefile cannot express each document
            checked.append(target)
            (check_makefile if target == "make" else check_python)(compiled, text)
    assert min(checked.count("make"), len(checked) - checked.count("make")) >= 3


@pytest.mark.parametrize(
    ("name", "target", "before", "after"),
    [
        ("code-review", "python", "A person decides: 1, 2, ", "A person decides: 2, "),
        ("parallel-review", "python", "the tool github (at most 4 times", "the tool github (at most 3 times"),
        ("parallel-review", "dbos", "the agent style (at most once)", "the agent style (no limit)"),
        ("nightly-report", "python", "# Set the secret `REPORT_TOKEN`", "# Set the secret `TOKEN`"),
        ("nightly-report", "python", "# `timeout`", "# `pause`"),
        ("nightly-report", "python", "#   sed -n '/^# BEGIN", "#   sed -i '/^# BEGIN"),
        ("change-review", "python", "# `do` lists changes", "# `when` lists changes"),
        ("checked-code", "python", ". Uses mypy and ruff if", ". Uses mypy if"),
        ("checked-code", "dbos", ', "ruff==', ', "rust=='),
        ("publish-notes", "python", " newer and git.", " newer."),
        ("security-audit", "dbos", "# `worker --agent COMMAND`", "# `--agent COMMAND`"),
        ("nightly-cleanup", "dbos", "`worker` runs one run at a time", "`worker` runs four runs at a time"),
        ("nightly-report", "python", "#   rdc compile examples/", "#   rdc compile -O operator=full examples/"),
        ("canary-rollout", "python", "    # {N} Stage {N}", "    # {N} Phase {N}"),
        ("canary-rollout", "python", "# First comes", "# And first comes"),
        ("nightly-report", "make", "#   fail: RETRY 4", "#   fail: RETRY 5"),
        ("nightly-report", "make", "#   fail: GOTO Keep\n", ""),
        ("nightly-report", "make", "#   timeout: 30 s", "#   timeout: 31 s"),
        ("nightly-report", "make", "#   The token is a secret", "#   The token is no secret"),
        ("nightly-report", "make", "newer and bash.", "newer and sh."),
        ("nightly-report", "make", "# `make -n` prints", "# `make -k` prints"),
        ("nightly-report", "make", "# The state directory is .rdc/", "# The state directory is rdc/"),
        ("publish-notes", "make", "newer and git.", "newer."),
        ("publish-notes", "make", " HUMAN=1 approves the next gate", " HUMAN=2 approves the next gate"),
        ("checked-code", "make", "# Uses mypy and ruff: ", "# Uses mypy: "),
        ("dependency-update", "make", "# An answer with TASK_DONE ", "# An answer with REJECTED "),
        ("parallel-review", "make", "# Without one, you reply to each prompt.\n", ""),
        ("parallel-review", "make", "security, with the keywords APPROVE, ", "security, with the keywords "),
        ("canary-rollout", "make", "# After a question, pass is yes and fail is no.\n", ""),
        ("canary-rollout", "make", "# rdc_N: the number of the instance of {N}.\n", ""),
        ("code-review", "make", "# --- The steps", "# `flow X` continues at the row X.\n# --- The steps"),
        ("preflight-checks", "make", "step 2.1 ended with fail", "step 2.1 ended with pass"),
        ("integration-tests", "make", "how often 2 was", "how often 3 was"),
        ("release", "make", "with 4 nested documents", "with 3 nested documents"),
        ("release", "make", "# --- 1/release/lint.runbook.md Lint", "# --- 1/release/lint.runbook.md Licenses"),
        ("flaky-test", "make", "# These are quick and reliable", "# These are slow"),
        (
            "release",
            "make",
            "make expands nothing in them. Commands see all",
            "make expands all of them. Commands see all",
        ),
        ("approved-deploy", "python", "# rdc proved rule approved: 3 YES ", "# rdc proved rule approved: 2 YES "),
        ("approved-deploy", "python", "# rdc proved rule restored: after 4 FAIL, always Restore\n", ""),
        ("approved-deploy", "make", "# rdc proved rule once: 4 ", "# rdc proved rule once: 3 "),
        ("approved-deploy", "make", "# rdc proved rule once: 4 at most 1 time\n", ""),
        ("nightly-cleanup", "plain", "# 1.1 Remove temporary", "# 1.2 Remove temporary"),
        ("nightly-cleanup", "plain", "# The archive is often off", "# The archive is never off"),
        ("nightly-cleanup", "plain", "# `make` runs the steps that have no", "# `make` runs the steps that have a"),
    ],
)
def test_a_comment_that_is_not_true_is_found(
    name: str, target: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, is_make = program(name), target in ("make", "plain")
    text = load("make" if is_make else target).emit(compiled, {"form": "plain"} if target == "plain" else {}).text or ""
    assert before in text
    changed = text.replace(before, after, 1)
    if "rdc compile" not in before:  # any change would be found, because the command writes something else
        monkeypatch.setattr(header_checks, "text_by", lambda *_: changed)
    with pytest.raises(AssertionError):
        (check_makefile if is_make else check_python)(compiled, changed)


PROVED = "# rdc proved "
HOSTILE = (
    '"$(shell touch escaped)" PASS before 2', '"${{ secrets.TOKEN }}" PASS before 2',
    "1 PASS before 2\nrun: touch escaped", '1 PASS before "\u2028touch escaped\r\x1b[2J"', "1 PASS before 2 \\",
    '"""', "${{" * 300, "x" * 1000, "1 PASS before 2", "1 PASS before 2",
)  # fmt: skip


@pytest.mark.parametrize("target", ["github", "make", "python", "dbos"])
def test_rules_stay_in_their_comments(target: str) -> None:
    def above(sentences: Sequence[str]) -> list[str]:
        rules = [Rule(f"r{place}", each, (Event("2"),), (Event("1", "pass"),)) for place, each in enumerate(sentences)]
        steps = node("1", shell("true"), when("pass", "2"), when("fail", "stop")), node("2", shell("true"))
        text = load(target).emit(made_of(*steps, rules=tuple(rules)), {}).text or ""
        lines = text.split("\n")
        return lines[: next(place for place, line in enumerate(lines) if not line.startswith("#"))]

    plain, hostile = above(["1 PASS before 2"] * len(HOSTILE)), above(HOSTILE)
    assert [line for line in hostile if not line.startswith(PROVED)] == [
        line for line in plain if not line.startswith(PROVED)
    ]
    proved = [line for line in hostile if line.startswith(PROVED)]
    assert [line.split(": ")[0] for line in proved] == [
        *(f"{PROVED}rule r{place}" for place in range(8)),
        f"{PROVED}2 more rules.",
    ]
    assert proved[0] == f"{PROVED}rule r0: {HOSTILE[0]}"
    assert all(line.isprintable() and len(line) <= 120 for line in proved)
    assert not any(line.endswith("\\") for line in proved) or target != "make"
    assert "${{" not in "".join(proved) or target != "github"
    assert PROVED not in (load(target).emit(program("nightly-report"), {}).text or ""), "it has no rules"
