"""The words of conditions are the target's: another target can have others."""

from pathlib import Path

from backends.common.identifiers import identifiers_of
from backends.scheduling.condition import literals
from backends.scheduling.flow import Words
from backends.scheduling.places import simplified
from backends.scheduling.plan import make_plan
from tests.support.documents import compiled
from tests.support.runbooks import command, question

DOCUMENT = (
    "# Deploy\n\n"
    + command("1. Build", "make build", "FAIL: GOTO Clean")
    + command("2. Wait", "make ready", "FAIL: RETRY 3 GOTO Clean")
    + question("3. Go back?", "", "YES: GOTO 2", "NO: GOTO Clean")
    + command("Clean up", "make clean")
)


def test_conditions_have_the_words_of_the_target(tmp_path: Path) -> None:
    program = compiled(tmp_path, DOCUMENT).program
    assert program
    program = simplified(program)
    plan = make_plan(program, identifiers_of(program), Words("state", "ok", "bad", "left out", "from/"))
    found = [one for condition in plan.flow.reached.values() for one in literals(condition)]
    assert {one.property for one in found} == {"state", "from/next"}
    assert {one.value for one in found if one.property == "state"} <= {"ok", "bad", "left out"}
    assert {one.value for one in found if one.property == "state"}
