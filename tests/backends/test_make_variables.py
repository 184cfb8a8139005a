"""Variables that are in the environment, or given on make's command line, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.makefiles import Place

SHOWS = '# Shows\n\n## 1. Show\n\n```sh\nprintf "%s\\n" "$RDC" > seen\n```\n'
ASKS = f"{SHOWS}\n## 2. Look\n\nIs it good?\n\n- YES: CONTINUE\n- NO: STOP\n"


@pytest.mark.parametrize("document", [SHOWS, ASKS], ids=["plain", "flow"])
@pytest.mark.parametrize("value", ["mine", "a 'b' $(c) #d", ""])
def test_a_variable_with_the_name_of_rdc_reaches_commands(tmp_path: Path, document: str, value: str) -> None:
    place = Place(tmp_path, document)
    place.make(RDC=value)
    assert place.lines("seen") == [value]
    assert place.make("step-1", RDC=value).returncode == 0
    assert place.lines("seen") == [value]
