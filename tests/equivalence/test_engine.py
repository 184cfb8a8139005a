"""The generated workflow, walked through by GitHub's own expression engine, against the oracle: random runbooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import regressions
from .difference import DifferenceError
from .shares import compare_random_cases
from .ways import github, try_way

SHARES = {"engine": 120, "engine-waiting": 12, "engine-agent": 12, "engine-environment": 4}


@pytest.mark.parametrize("way", SHARES)
def test_it_walks_as_the_oracle(way: str) -> None:
    compare_random_cases(way, SHARES[way])


UNIT = '```sh\nsh "$YARDSTICK/visit" {name} -\n```\n'
DOCUMENT = "\n".join(
    f"## {name}\n\n{UNIT.format(name=name)}\n{transitions}"
    for name, transitions in {
        "1": "- FAIL: GOTO Fix\n",
        "2": "- FAIL: RETRY 2 GOTO Fix\n",
        "3": "- PASS: GOTO 2\n- FAIL: COMPLETE\n",
        "Fix": "- PASS: STOP fixed\n",
    }.items()
)
WALKS = {
    "straight": ("1 pass", "2 pass", "3 fail", '=> COMPLETE ""'),
    "repeated": ("1 pass", "2 fail", "2#2 pass", "3 pass", "2 pass", "3 fail", '=> COMPLETE ""'),
    "fixed": ("1 fail", "Fix pass", '=> STOP "fixed"'),
    "broken": ("1 fail", "Fix fail", '=> STOP ""'),
}
MUTATIONS = [
    ("        if: steps.s1.outcome == 'success'", "        if: steps.s1.outcome != 'success'", "straight"),
    ("        if: steps.s1.outcome == 'success'", "        if: always()", "fixed"),
    ("steps.s1.outcome == 'failure' ||", "steps.s1.outcome == 'failed' ||", "fixed"),
    ("        continue-on-error: true\n", "", "fixed"),
    ("        if: ${{ !cancelled() && ", "        if: ${{ success() && ", "broken"),
    ("            Fix STOP\n", "", "broken"),
    ("          JOB: ${{ job.status }}", "          JOB: success", "broken"),
    ("steps.s2.outputs.next == 'COMPLETE' &&", "steps.s2.outputs.next == 'STOP' &&", "repeated"),
    ("pass) rdc_unit=s2 ;;", "pass) rdc_unit=s3 ;;", "repeated"),
]


@pytest.mark.parametrize("walk", WALKS)
def test_it_walks_as_written(walk: str, tmp_path: Path) -> None:
    assert _walks(tmp_path, walk)


@pytest.mark.parametrize(("right", "wrong", "walk"), MUTATIONS)
def test_it_notices_a_workflow_that_is_wrong(
    right: str, wrong: str, walk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    emitted = github.workflow

    def mutated(*given: object) -> str:
        text = emitted(*given)  # type: ignore[arg-type] # passed on
        assert right in text
        return text.replace(right, wrong, 1)

    monkeypatch.setattr(github, "workflow", mutated)
    with pytest.raises(DifferenceError):
        _walks(tmp_path, walk)


def _walks(folder: Path, walk: str) -> bool:
    (folder / "main.runbook.md").write_text(DOCUMENT, encoding="utf-8")
    (folder / regressions.WALK).write_text("\n".join(["run main.runbook.md", *WALKS[walk], ""]), encoding="utf-8")
    return try_way("engine", regressions.read(folder))
