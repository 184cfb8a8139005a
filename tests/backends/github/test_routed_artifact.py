"""What a run leaves behind as a file, and tools that it does without (I13, I28)."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from compiler.ir.program import Artifact
from tests.backends.github.routed import (
    COMPLETE,
    STOP,
    Agent,
    Input,
    Keep,
    Tool,
    compiled,
    node,
    program,
    ref,
    text,
    to,
    words,
)
from tests.backends.github.routed_runs import AGENT, ended, log, run
from tests.support.github import lint


def test_a_complete_run_leaves_its_artifact_and_does_without_optional_tools(tmp_path: Path) -> None:
    """I13, I28: the file has the name of the program and the suffix of its type, whatever is in it."""
    made = program(
        node("0", Tool("library", "prompt", text("{}"), optional=True), to("1", do=[Keep("note")])),
        node("1", Agent("", words("Draw ", ref("note", "nothing"))), to(COMPLETE, "pass", do=[Keep("r")]), to(STOP)),
        slots=("r", "note"),
        inputs=(Input("kind", default="mermaid"),),
    )
    made = replace(made, artifact=Artifact("r", words(ref("kind"))))
    workflow = compiled(made, {"agent": AGENT})
    (tmp_path / "w.yml").write_text(workflow, encoding="utf-8")
    assert lint.findings([tmp_path / "w.yml"]) == []
    said = "a\n${{ github.token }}\n::error::x"
    done = run(tmp_path, workflow, {"1": [said]})
    assert (ended(done), done.conclusion) == ("COMPLETE", "success"), done.log
    assert "no command is set; use --tool library=COMMAND" in done.log
    assert [entry[1] for entry in log(tmp_path)] == ["Draw "]
    (left,) = (path for path in (tmp_path / "history").rglob("a.mmd") if path.is_file())
    assert (left.read_text(), left.parent.name) == (said, "a.mmd")
    done = run(tmp_path, workflow, {"1": [None]}, 2)
    assert ended(done).startswith("STOP")
    assert len(list((tmp_path / "history").rglob("a.mmd"))) == 2, "the folder and the file of the first run"
