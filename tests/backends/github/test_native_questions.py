"""Questions that reviewers of an environment answer: which ones, the workflow, and that all texts stay text."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from backends.base import Emission
from tests.backends.github.walking import Clean
from tests.support.github.compiling import emission, parsed
from tests.support.github.native import Native, command, prepared, question

pytestmark = pytest.mark.process

BUILD = "## 1. Build\n\n```bash\nmkdir -p dist && echo built > dist/app\n```\n\n- FAIL: STOP\n\n"
ASK = "## 2. Ready?\n\nLook at *it*.\n\n- YES: CONTINUE\n- NO: STOP Later\n\n"
INSTALL = "## 3. Install\n\n```bash\ncat dist/app\n```\n\n- PASS: COMPLETE Installed\n- FAIL: STOP Broken\n"
DOCUMENT = BUILD + ASK + INSTALL
HOSTILE = "$(touch x) `touch y` ${{ github.token }} <b>*bold*</b>\nQUESTION\n# Title"
NONE: dict[str, object] = {"carry": False}
SOME: dict[str, object] = {"carry": ["dist", "a b"]}


def compiled(folder: Path, document: str = DOCUMENT, **options: object) -> Emission:
    return emission(folder, document, {"prompts": "environment", **options})


def jobs_of(folder: Path, document: str = DOCUMENT, **options: object) -> Any:
    made = compiled(folder, document, **options)
    assert made.text, made.diagnostics
    return parsed(made.text)["jobs"]


def names(job: Mapping[str, Any]) -> list[str]:
    return [step["name"] for step in job["steps"]]


def test_a_question_is_a_job_between_two_others_and_needs_no_program(tmp_path: Path) -> None:
    made = compiled(tmp_path)
    assert made.text
    assert (made.companions, made.reason, len(made.text.splitlines()) <= 145) == ((), None, True)
    (note,) = made.diagnostics
    assert (note.code, "environment `approval`" in note.message) == ("RD527", True), "people know what to set up"
    jobs = parsed(made.text)["jobs"]
    assert [*jobs] == ["build", "decide_2", "install", "rejected_2", "rerun"]
    assert jobs["install"]["needs"] == ["build", "decide_2"]
    assert [job.get("environment") for job in jobs.values()] == [None, "approval", None, None, None]
    first, second, *others = [job.get("permissions", {}) for job in jobs.values()]
    assert (first, second, others) == ({"contents": "read", "actions": "read"}, {"actions": "read"}, [{}] * 3)
    assert names(jobs["install"])[:3] == ["Load the workspace", "Unpack the workspace", "3. Install"]


@pytest.mark.parametrize(
    ("document", "clause"),
    [
        (DOCUMENT.replace("NO: STOP Later", "NO: GOTO 3"), "step 2 continues after NO"),
        (DOCUMENT.replace("NO: STOP Later", "NO: GOTO 1"), "step 2 asks in a loop"),
        (DOCUMENT.replace("NO: STOP Later", "NO: COMPLETE"), "step 2 continues after NO"),
        (
            "".join(f"## {n}. Sure?\n\n- YES: CONTINUE\n- NO: STOP\n\n" for n in range(1, 7)),
            "the document has more than 5 decisions",
        ),
        (
            BUILD.replace("STOP", "GOTO Ask") + ASK + INSTALL + "\n## Ask\n\n- YES: GOTO 2\n- NO: STOP\n",
            "step 2 comes after different numbers of decisions",
        ),
        ("---\nrdc:\n  inputs: {CI: {default: x}}\n---\n" + DOCUMENT, "GitHub or bash reserves the name CI"),
        ("---\nrdc:\n  inputs: {Env: {}, env: {}}\n---\n" + DOCUMENT, "the names Env and env differ only in case"),
        (
            "---\nrdc:\n  inputs: {a: {required: false}}\n---\n" + DOCUMENT.replace("Look at", "{{a}}"),
            "step 2 shows a, which may be missing, have several lines, or come from an event",
        ),
    ],
)
def test_other_questions_are_for_people_who_answer(document: str, clause: str, tmp_path: Path) -> None:
    refused = compiled(tmp_path, document)
    assert [(found.code, clause in found.message) for found in refused.diagnostics] == [("RD520", True)]
    made = emission(tmp_path, document, {"prompts": None, "runtime": "inline"})
    assert made.text
    assert made.reason
    assert (made.reason.clause, "answers:" in made.text) == (clause, True)


def test_one_refusal_has_all_reasons_and_a_remedy(tmp_path: Path) -> None:
    document = DOCUMENT.replace("NO: STOP Later", "NO: GOTO 3").replace("FAIL: STOP Broken", "FAIL: GOTO Other")
    (refused,) = compiled(tmp_path, document + "\n## Other\n\n- YES: GOTO 3\n- NO: STOP\n").diagnostics
    assert "step 2 continues after NO; step Other asks in a loop" in refused.message
    assert refused.help == "use `prompts: answers`, or `prompts: agent` with the option `agent`"
    (refused,) = compiled(tmp_path, f"---\nrdc:\n  steps: {{2: {{asks: TICKET}}}}\n---\n{DOCUMENT}").diagnostics
    assert refused.code == "RD520"
    assert refused.message.endswith(": step 2 asks for text or a choice")
    assert refused.help == "use `prompts: answers`", "an agent gives no value either"


FIRST = "## 1. Begin?\n\n- YES: CONTINUE\n- NO: STOP\n\n"
LAST = "\n## 4. Tell?\n\n- YES: COMPLETE Told\n- NO: STOP Quiet\n"
THREE = FIRST + ASK + INSTALL.replace("PASS: COMPLETE Installed", "PASS: CONTINUE") + LAST
BRANCHES = BUILD.replace("STOP", "GOTO Red") + ASK + INSTALL + "\n## Red\n\n- YES: GOTO 3\n- NO: STOP Red\n"


def test_no_tool_finds_anything(tmp_path: Path, clean: Clean) -> None:
    hostile = DOCUMENT.replace("Look at *it*.", HOSTILE).replace("STOP Later", f'STOP "{HOSTILE[:40]}"')
    live: dict[str, object] = {"steps": {"2": {"approval-environment": "the 'live' site"}}}
    for document, options in ((hostile, live), (THREE, {}), (BRANCHES, SOME), (DOCUMENT, NONE)):
        clean(compiled(tmp_path, document, **options).text or "")


def test_two_questions_in_a_row_and_one_in_front(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, THREE)
    assert [*jobs][:6] == ["ask_1", "decide_1", "ask_2", "decide_2", "install", "decide_4"]
    assert "Check out" not in names(jobs["ask_1"]) + names(jobs["ask_2"])
    assert names(jobs["decide_4"]) == ["Stop unless a person approved", "COMPLETE: Told"]
    assert "-lt 2 ]" in jobs["decide_2"]["steps"][0]["run"]
    assert "-lt 3 ]" in jobs["decide_4"]["steps"][0]["run"]
    assert not any("workspace" in name for job in jobs.values() for name in names(job)), "no later job has commands"


def test_a_step_behind_several_questions_is_written_for_each(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, BRANCHES)
    assert jobs["decide_2"]["if"] == "github.run_attempt == 1 && needs.build.outputs.decide_2 == 'true'"
    assert jobs["install"]["needs"] == ["build", "decide_2"]
    assert jobs["install_2"]["needs"] == ["build", "decide_Red"]
    assert jobs["rerun"]["needs"] == ["build", "decide_2", "install", "decide_Red", "install_2"]


def test_a_question_may_have_an_environment_of_its_own(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, steps={"2": {"approval-environment": "the 'live' site"}})
    assert jobs["decide_2"]["environment"] == "the 'live' site"
    assert "environments/the%20%27live%27%20site" in jobs["build"]["steps"][0]["run"]
    (problem,) = compiled(tmp_path, steps={"1": {"approval-environment": "x"}}).diagnostics
    assert problem.code == "RD013"
    (problem,) = compiled(tmp_path, environment="Approval").diagnostics
    assert "other jobs would run in Approval" in problem.message


@pytest.mark.parametrize(
    ("carry", "first", "last"),
    [
        (True, 'tar -cf "$RUNNER_TEMP/workspace.tar" .', ["Load the workspace", "Unpack the workspace"]),
        (["dist", "a b"], "tar -cf \"$RUNNER_TEMP/workspace.tar\" dist 'a b'", ["Check out", "Load the workspace"]),
        (False, "", ["Check out", "3. Install"]),
    ],
)
def test_the_option_says_what_is_carried(carry: object, first: str, last: list[str], tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, carry=carry, permissions={"issues": "write"})
    assert names(jobs["install"])[:2] == last
    assert [step["run"] for step in jobs["build"]["steps"] if step["name"].startswith("Pack")] == [first] * bool(first)
    reads = {} if carry is True else {"contents": "read"}
    assert jobs["install"]["permissions"] == {"issues": "write", **reads}


def test_a_login_that_may_be_kept_is_warned_of(tmp_path: Path) -> None:
    setup = [{"uses": f"google-github-actions/auth@{'0' * 40}"}]
    assert [found.code for found in compiled(tmp_path, setup=setup).diagnostics] == ["RD527", "RD528"]
    assert [found.code for found in compiled(tmp_path, setup=setup, carry=["dist"]).diagnostics] == ["RD527"]


def test_an_output_of_rdc_is_not_hidden_by_one_of_a_step(tmp_path: Path) -> None:
    (refused,) = compiled(tmp_path, "---\nrdc:\n  outputs: [workspace]\n---\n" + DOCUMENT).diagnostics
    assert "workspace is also the name of an output of rdc's jobs" in refused.message


def test_texts_of_the_author_run_nothing(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, DOCUMENT.replace("Look at *it*.", HOSTILE).replace("STOP Later", f'STOP "{HOSTILE[:40]}"'))
    (asks,) = [step["run"] for step in jobs["build"]["steps"] if step["name"].startswith("Question")]
    assert "<<QUESTION_\n" in asks
    assert r"\\\$(touch x) \\\`touch y\\\` \\\$\\{\\{ github.token }} \\<b\\>\\*bold\\*" in asks
    assert not any("${{" in step.get("run", "") for job in jobs.values() for step in job["steps"])
    assert "\nQUESTION\n" in asks


def test_without_questions_the_option_changes_nothing(tmp_path: Path) -> None:
    document = BUILD + INSTALL.replace("## 3", "## 2")
    with_option, without = compiled(tmp_path, document).text, emission(tmp_path, document).text
    assert with_option
    assert without
    assert with_option[with_option.index("\nname:") :] == without[without.index("\nname:") :]


VALUES = [
    "$(touch owned) `touch owned` ${{ github.token }} ${HOME}$LOG '; touch owned; '",
    '"; touch owned; " ##[error]x ::set-output name=started::yes 100%0A \\n \\ %s \u2028\u00e9 \u202e',
    "QUESTION",
    "a\nQUESTION\ntouch owned\nEOF\ntouch owned\n\n### Decide: another\n\nClick nothing.\n::error::b",
    "<script>alert(1)</script><img src=x onerror=y>",
    "# heading | table ** bold ** [a](javascript:b) ![c](d) @everyone <!-- x",
    "-n",
    "  ",
]
TEXTS = [
    *("$(touch owned) `touch owned` ${{ github.token }} ${HOME}$LOG", "'; touch owned; '", '"; touch owned; "'),
    *("QUESTION", "<script>alert(1)</script><img src=x onerror=y>", "# heading | table ** bold ** [a](javascript:b)"),
    *("100%0A \\n \\ %s -n", "\u2028\u00e9 \u202e"),
]


def asks(folder: Path, text: str = "{{what}}") -> Native:
    """A workflow whose question shows a value, or a text, in all places."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    document = (
        f"---\nrdc:\n  outputs: [what]\n---\n\n# Title\n\n## 1. Make\n\n```bash\n"
        'cat "$VALUE" >> "$RDC_OUTPUT"; echo 1 >> "$LOG"\n```\n\n'
        f'## 2. Is it {text}\n\nLook: {text}\n\n- NO: STOP "No {quoted}"\n\n'
        '## 3. Show\n\n```bash\nprintf %s "$what" > "$SHOWN"; echo 3 >> "$LOG"\n```\n\n'
        f'- PASS: COMPLETE "Done {quoted}"\n'
    )
    return prepared(folder, document)


def run_it(native: Native, value: str, decision: str) -> str:
    folder = native.folder
    (folder / "value").write_bytes(f"what<<END-OF-IT\n{value}\nEND-OF-IT\n".encode())
    run = native(decision, env={"VALUE": str(folder / "value"), "SHOWN": str(folder / "shown")})
    assert run.conclusion == {"approved": "success", "rejected": "failure"}[decision], run.log
    assert not list(folder.rglob("owned")), "something of the text was run"
    assert "ghs_" not in run.summary + "".join(job.name for job in run.jobs.values())
    return run.summary


@pytest.mark.share(3)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_text_in_a_question(value: str, tmp_path: Path) -> None:
    native = asks(tmp_path)
    decision = "rejected" if value.startswith(("#", "$")) else "approved"
    summary = run_it(native, value, decision)
    assert summary.count("### Decide: ") == 1, "a value begins no other question"
    assert len(re.findall(r"^### ", summary, re.MULTILINE)) <= 2
    assert not re.search(r"(?<!\\)<(script|img)", summary)
    assert native.log == (["1"] if decision == "rejected" else ["1", "3"])
    assert decision == "rejected" or (tmp_path / "shown").read_bytes().decode() == value


def test_no_tool_finds_anything_in_the_texts_of_authors(tmp_path: Path, clean: Clean) -> None:
    for number, written in enumerate((TEXTS[0], "".join(TEXTS[1:4]), "".join(TEXTS[4:]))):
        (tmp_path / str(number)).mkdir()
        clean(asks(tmp_path / str(number), written).text)


@pytest.mark.share(3)
@pytest.mark.parametrize(("text", "decision"), list(zip(TEXTS, ("approved", "rejected") * 4, strict=True)))
def test_the_text_of_the_author_is_text(text: str, decision: str, tmp_path: Path) -> None:
    summary = run_it(asks(tmp_path, text), "fine", decision)
    assert not re.search(r"(?<!\\)<(script|img)", summary)
    assert summary.count("### Decide: ") == 1


def test_any_name_of_a_value_is_one(tmp_path: Path) -> None:
    names = ("name", "MESSAGE", "text", "lines", "approvals")
    steps = "".join(command(n, f'echo "{name}=of-{n}" >> "$RDC_OUTPUT"') for n, name in enumerate(names, 1))
    steps += command(6, 'sh -c "$GIVES"')
    shown = " ".join(f"{{{{{name}}}}}" for name in names)
    document = f"---\nrdc:\n  outputs: [{', '.join(names)}, set]\n---\n\n{steps}" + question(7, title=f"Take {shown}")
    native = prepared(tmp_path, document.replace("Is it fine?", f"Look: {shown}"))
    run = native("approved", env={"GIVES": "echo set=of-6 >> $RDC_OUTPUT"})
    assert run.jobs["decide_7"].name == "7. Take of-1 of-2 of-3 of-4 of-5"
    assert "\nLook: of-1 of-2 of-3 of-4 of-5\n" in run.summary
    assert re.search(r"name = of-1, set = of-6", run.summary), "a script may set any output"


def test_a_question_in_several_lines_ends_where_it_ends(tmp_path: Path) -> None:
    prompt = "QUESTION\nEOF\n'\ntouch owned\n\n<details>\n\n> quoted\n\n```\nfence\nQUESTION\n```"
    document = question(1, 'NO: STOP "No"').replace("Is it fine?", prompt)
    native = prepared(tmp_path, document + '## 2. Go\n\n```bash\necho 2 >> "$LOG"\n```\n')
    run = native("approved")
    assert (run.conclusion, native.log) == ("success", ["2"])
    assert not list(tmp_path.rglob("owned"))
    assert "touch owned" in run.summary
    assert "Click" in run.summary.splitlines()[-1] or "Decide before" in run.summary
