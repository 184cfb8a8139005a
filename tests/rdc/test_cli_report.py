"""`rdc report`: the same report as the run's program gives, for runs of all editions and without their documents."""

import getpass
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runtime_shim.engine.journal import encode
from tests.support.cli import call, document, environment, spawn
from tests.support.collector import parsed

pytestmark = pytest.mark.process

ASKING = """# Deploy
## 1. Build
```bash
echo out; false
```
- FAIL: CONTINUE
## 2. Is it up?
- YES: COMPLETE
"""


def test_it_is_the_report_of_the_program(tmp_path: Path) -> None:
    file = document(tmp_path, "deploy.runbook.md", ASKING)
    assert call("report", cwd=tmp_path).err.startswith("rdc: there is no run here; `rdc status` lists the runs")
    assert spawn("run", file.name, "--logs", cwd=tmp_path).code == 75
    spawn("run", file.name, "answer", "2", "yes", "--by", "ann", cwd=tmp_path)
    own = spawn("run", file.name, "report", cwd=tmp_path).out
    assert "## Failures\n\n**1 Build**: exit code 1\n\n```text\nout\n```\n" in own
    run = json.loads(spawn("run", file.name, "history", "--json", cwd=tmp_path).out)[0]["run"]
    (tmp_path / "a").mkdir()
    for words in ((), (file.name,), ("--run", run), ("--run", "deploy")):
        assert call("report", *words, cwd=tmp_path).out == own
    assert call("report", f"../{file.name}", cwd=tmp_path / "a").out == own
    facts = json.loads(call("report", "--format", "json", cwd=tmp_path).out)
    assert (facts["state"], facts["run"], [one["by"] for one in facts["decisions"]]) == ("complete", run, ["ann"])
    spawn("run", file.name, "--as", "b", cwd=tmp_path)
    several = call("report", file.name, cwd=tmp_path)
    assert (several.code, "there are several runs: deploy, deploy@b; choose one" in several.err) == (2, True)
    assert call("report", file.name, "--run", "nope", cwd=tmp_path).code == 2
    spawn("run", file.name, cwd=tmp_path)
    assert call("report", "--run", run, cwd=tmp_path).out == own, "it is archived now"
    file.unlink()
    alone = call("report", "--run", run, cwd=tmp_path).out
    assert alone == own.replace("# Deploy", "# deploy").replace("YES", "PASS"), "the journal has no title and question"


def test_a_program_of_any_edition_has_one_a_makefile_has_none_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "deploy.runbook.md").write_text(ASKING, encoding="utf-8")
    assert spawn("compile", "deploy.runbook.md", "--to", "python", cwd=tmp_path).code == 0
    assert "edition commands" in (tmp_path / "deploy.py").read_text(encoding="utf-8")
    for words in (["run"], ["answer", "2", "yes"]):
        command = [sys.executable, "deploy.py", *words]
        subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, check=False)
    text = call("report", cwd=tmp_path).out
    assert f"| Decided by | {getpass.getuser()} |" in text
    assert "No log was written; `--logs` keeps one." in text
    shutil.rmtree(tmp_path / ".rdc")
    spawn("compile", "deploy.runbook.md", "--to", "make", "-O", "runtime=native", cwd=tmp_path)
    document(tmp_path, ".rdc/deploy.make/log", "1 pass, COMPLETE\n")
    assert "native Makefile, which keeps no journal" in call("report", cwd=tmp_path).exits(2).err
    document(tmp_path, "b/.rdc/x/journal", "x").with_name("history").symlink_to("/etc")
    assert call("report", cwd=tmp_path / "b").code == 2


def otlp(folder: Path, *words: str) -> tuple[list[str], str]:
    """The names of the spans in the trace of a report, and the trace."""
    done = call("report", "--format", "otlp", *words, cwd=folder).exits(0)
    request = parsed(done.out.encode())
    return [span.name for part in request.resource_spans for each in part.scope_spans for span in each.spans], done.out


def times_of(span: dict[str, str]) -> tuple[str, float]:
    """When a span started, as a report has it, and how many seconds it took."""
    start, end = (int(span[key]) // 1000 for key in ("startTimeUnixNano", "endTimeUnixNano"))
    return f"{datetime.fromtimestamp(start // 10**6, UTC):%Y-%m-%dT%H:%M:%S}.{start % 10**6:06}Z", (end - start) / 10**6


def test_it_prints_the_trace_of_any_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = document(tmp_path, "deploy.runbook.md", ASKING)
    assert spawn("run", file.name, cwd=tmp_path).code == 75
    assert otlp(tmp_path)[0] == ["1 Build"], "the run has not ended"
    spawn("run", file.name, "answer", "2", "yes", cwd=tmp_path)
    names, text = otlp(tmp_path)
    assert (names, text.count("\n")) == (["1 Build", "2 Is it up?", "RUN deploy"], 1)
    facts = json.loads(call("report", "--format", "json", cwd=tmp_path).out)
    found = [times_of(span) for span in json.loads(text)["resourceSpans"][0]["scopeSpans"][0]["spans"]]
    assert found[:2] == [(one["started"], one["took"]) for one in facts["steps"]], "as in the report"
    run = json.loads(spawn("run", file.name, "history", "--json", cwd=tmp_path).out)[0]["run"]
    spawn("run", file.name, cwd=tmp_path)
    file.unlink()
    assert otlp(tmp_path, "--run", run)[1] == text, "of an archived run, and without the document"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "deployments")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert otlp(tmp_path, "--run", run)[1] == text.replace('{"stringValue":"rdc"}', '{"stringValue":"deployments"}')
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "x")
    refused = call("report", "--format", "otlp", "--run", run, cwd=tmp_path).exits(2)
    assert refused.err.startswith("rdc: the variable OTEL_RESOURCE_ATTRIBUTES must be like")


@pytest.mark.parametrize("key", ["run", "name", "time", "steps", "node", "outcome", "how", "attempt", "seconds"])
def test_the_trace_of_a_damaged_journal_is_valid_or_refused(asked: Path, key: str) -> None:
    path = asked / ".rdc" / "deploy" / "journal"
    whole = path.read_bytes()
    values: list[object] = [None, 7, [], {"a": 1}, "x\x1b[31m"]
    for value in values:
        records = [json.loads(line[9:]) for line in whole.splitlines()]
        for record in records:
            record.update({key: value} if key in record else {})
        path.write_bytes(b"".join(map(encode, records)))
        done = call("report", "--format", "otlp", "--run", "deploy", cwd=asked)
        if done.code == 0:
            parsed(done.out.encode())
        assert done.code in (0, 2)
        assert ("Traceback" in done.err, "\x1b" in done.out + done.err) == (False, False), value
    path.write_bytes(whole)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that waits."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "deploy.runbook.md").write_text(ASKING, encoding="utf-8")
    assert spawn("run", "deploy.runbook.md", cwd=folder).code == 75
    return folder
