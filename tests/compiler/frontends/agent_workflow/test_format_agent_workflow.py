"""The normal form of workflows: white space in order, every text and comment as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.driver import Settings, format_opened, open_file
from compiler.frontends.common.interface import Formatted

GOOD = "name: a\nsteps:\n  - name: one # first\n    prompt: |\n      Do it.\n    end: true\n"


def formatted(folder: Path, data: bytes) -> Formatted:
    (folder / "rdc.toml").touch()
    (folder / "a.workflow.yaml").write_bytes(data)
    return format_opened(open_file(str(folder / "a.workflow.yaml")), Settings()).result


def test_the_normal_form_stays(tmp_path: Path) -> None:
    assert formatted(tmp_path, GOOD.encode()).text == GOOD


def changed(old: str, new: str) -> str:
    return GOOD.replace(old, new)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        (GOOD.replace("\n", "  \n").replace("|  ", "|").replace("Do it.  ", "Do it."), GOOD),
        ("\n\n" + GOOD + "\n\n\n", GOOD),
        (GOOD.rstrip("\n"), GOOD),
        (changed("steps:", "\n\n\nsteps:"), changed("steps:", "\nsteps:")),
        (changed("    end", "\n\n    # why  \n\n    end"), changed("    end", "\n    # why\n\n    end")),
        (GOOD.replace("\n", "\r\n", 4), GOOD.replace("\n", "\r\n")),  # the line end that most lines have
        *((text, text) for text in (changed("Do it.", "Do it.  \n\n\n\n      twice"),)),
        *((text, text) for text in (changed("|", "|+").replace("    end", "\n\n    end"),)),
        (changed("|\n      Do it.", '"Do   \n      it."  '), changed("|\n      Do it.", '"Do   \n      it."')),
    ],
)
def test_white_space_is_put_in_order(tmp_path: Path, written: str, normal: str) -> None:
    assert formatted(tmp_path, written.encode()).text == normal
    assert formatted(tmp_path, normal.encode()).text == normal


def test_what_has_errors_is_left_alone(tmp_path: Path) -> None:
    assert formatted(tmp_path, b"name: a  \nsteps: [\n").text is None
    assert formatted(tmp_path, b"name: a  \nname: b\nsteps: []\n").text is None
