"""How lengths of time are said."""

from __future__ import annotations

import pytest

from compiler.text.durations import spoken


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (90, "90 s"),
        (119, "119 s"),
        (120, "2 min"),
        (150, "2 min 30 s"),
        (600, "10 min"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (3601, "1 h 1 s"),
        (86_400, "24 h"),
    ],
)
def test_times_are_said_as_people_say_them(seconds: int, said: str) -> None:
    assert spoken(seconds) == said
