"""What authors and commands write reaches the page of a run as text: nothing of it is run, and nothing is markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.github.lint import findings
from tests.support.github.native import Native, command, prepared, question

pytestmark = pytest.mark.process

HOSTILE = [
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
    """Run it with a value; gives the summary."""
    folder = native.folder
    (folder / "value").write_bytes(f"what<<END-OF-IT\n{value}\nEND-OF-IT\n".encode())
    env = {"VALUE": str(folder / "value"), "SHOWN": str(folder / "shown")}
    run = native(decision, env=env)
    assert run.conclusion == {"approved": "success", "rejected": "failure"}[decision], run.log
    assert not list(folder.rglob("owned")), "something of the text was run"
    assert "ghs_" not in run.summary + "".join(job.name for job in run.jobs.values())
    return run.summary


@pytest.mark.share(2)
@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_is_text_in_a_question(value: str, tmp_path: Path) -> None:
    native = asks(tmp_path)
    decision = "rejected" if value.startswith(("#", "$")) else "approved"
    summary = run_it(native, value, decision)
    assert summary.count("### Decide: ") == 1, "a value begins no other question"
    assert len(re.findall(r"^### ", summary, re.MULTILINE)) <= 2
    assert not re.search(r"(?<!\\)<(script|img)", summary)
    assert native.log == (["1"] if decision == "rejected" else ["1", "3"])
    assert decision == "rejected" or (tmp_path / "shown").read_bytes().decode() == value


def test_no_tool_finds_anything_in_the_texts_of_authors(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.yml" for number in range(3)]
    for path, text in zip(paths, (TEXTS[0], "".join(TEXTS[1:4]), "".join(TEXTS[4:])), strict=True):
        path.with_suffix("").mkdir()
        path.write_text(asks(path.with_suffix(""), text).text, encoding="utf-8")
    assert findings(paths) == []


@pytest.mark.share(2)
@pytest.mark.parametrize(("text", "decision"), list(zip(TEXTS, ("approved", "rejected") * 4, strict=True)))
def test_the_text_of_the_author_is_text(text: str, decision: str, tmp_path: Path) -> None:
    summary = run_it(asks(tmp_path, text), "fine", decision)
    assert not re.search(r"(?<!\\)<(script|img)", summary)
    assert summary.count("### Decide: ") == 1


def test_any_name_of_a_value_is_one(tmp_path: Path) -> None:
    names = ("name", "MESSAGE", "text", "lines", "approvals")
    steps = "".join(command(n, f'echo "{name}=of-{n}" >> "$RDC_OUTPUT"') for n, name in enumerate(names, 1))
    shown = " ".join(f"{{{{{name}}}}}" for name in names)
    document = f"---\nrdc:\n  outputs: [{', '.join(names)}]\n---\n\n{steps}" + question(6, title=f"Take {shown}")
    run = prepared(tmp_path, document.replace("Is it fine?", f"Look: {shown}"))("approved")
    assert run.jobs["decide_6"].name == "6. Take of-1 of-2 of-3 of-4 of-5"
    assert "\nLook: of-1 of-2 of-3 of-4 of-5\n" in run.summary
    assert "name = of-1" in run.summary


def test_a_question_in_several_lines_ends_where_it_ends(tmp_path: Path) -> None:
    prompt = "QUESTION\nEOF\n'\ntouch owned\n\n<details>\n\n> quoted\n\n```\nfence\nQUESTION\n```"
    document = question(1, 'NO: STOP "No"').replace("Is it fine?", prompt)
    native = prepared(tmp_path, document + '## 2. Go\n\n```bash\necho 2 >> "$LOG"\n```\n')
    run = native("approved")
    assert (run.conclusion, native.log) == ("success", ["2"])
    assert not list(tmp_path.rglob("owned"))
    assert "touch owned" in run.summary
    assert "Click" in run.summary.splitlines()[-1] or "Decide before" in run.summary
