"""Questions for a value in `rdc trace`, `rdc test` and Makefiles (E14)."""

from pathlib import Path

import pytest

from tests.support.cli import call, document

pytestmark = pytest.mark.process

SCENARIOS = """\
scenarios:
  whole: {commands: [rd run a.runbook.md, rd pass --value REGION=us], result: COMPLETE}
  none: {commands: [rd run a.runbook.md, rd fail], result: STOP}
  twice:
    commands: [rd run --prompted a.runbook.md, rd pass --value REGION=us, rd fail, rd goto 1, rd fail]
    result: STOP
"""
BODY = """\
---
rdc:
  steps: {1: {asks: {output: REGION, type: choice, options: [eu, us]}}}
SCENARIOS---
# Go
## 1. Where?
Name the region.
## 2. Go to {{REGION}}
```sh
test "$REGION" = us
```
- PASS: COMPLETE "in {{REGION}}"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return document(tmp_path, "a.runbook.md", BODY.replace("SCENARIOS", SCENARIOS))


def test_traces_makefiles_and_drafts_have_the_value(path: Path) -> None:
    assert call("trace", path.name, cwd=path.parent).out.endswith("=> COMPLETE in eu\n")
    assert call("trace", path.name, "--outcomes", "1=pass:us", cwd=path.parent).out.endswith("=> COMPLETE in us\n")
    assert call("trace", path.name, "--outcomes", "1=fail", cwd=path.parent).out.endswith("=> STOP\n")
    call("compile", "--to", "make", path.name, "-o", "Makefile", cwd=path.parent).exits(0)
    assert "#   question (value for REGION):\n" in (path.parent / "Makefile").read_text(encoding="utf-8")
    document(path.parent, "a.runbook.md", BODY.replace("SCENARIOS", ""))
    assert call("test", "--init", path.name, cwd=path.parent).code == 0
    assert '"rd pass --value REGION=eu"' in path.with_name("a.scenarios.yaml").read_text(encoding="utf-8")
    assert call("test", path.name, cwd=path.parent).code == 0


@pytest.mark.parametrize("target", ["python", "make"])
def test_scenarios_give_the_value_to_targets(path: Path, target: str) -> None:
    done = call("test", "--on", target, path.name, cwd=path.parent).exits(0)
    assert f"whole  {target}" in done.out
    assert "COMPLETE in us" in done.out
