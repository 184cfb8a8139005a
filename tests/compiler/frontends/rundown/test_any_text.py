"""Whatever stands in a file, rdc gives diagnostics or a program, and never fails."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compiler.driver import Compilation, Settings, compile_file
from compiler.frontends.rundown import Layout
from compiler.ir.program import Program
from tests.conftest import ROOT
from tests.support.any_text import FRAGMENTS, check, mutated, texts

ToPython = Callable[[Program], str]

EXAMPLES = sorted((ROOT / "examples").rglob("*.runbook.md"))

_texts = texts(FRAGMENTS)


def compiled(data: bytes, layout: Layout | None = None, *, link: bool = True) -> Compilation:
    """What becomes of these bytes as a runbook in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        path = Path(folder) / "main.runbook.md"
        path.write_bytes(data)
        return compile_file(str(path), Settings("rundown", {"transitions": layout} if layout else {}, link))


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(text=_texts, layout=st.sampled_from([None, "after-body", "after-header"]), link=st.booleans())
@example(text="", layout=None, link=True)
@example(text="\ufeff---\r\nname: x\r\n---\r\n\r\n## 1. A\r\n\r\n- PASS: GOTO 7\r\n", layout=None, link=True)
def test_any_text(text: str, layout: Layout | None, link: bool, to_python: ToPython) -> None:
    check(compiled(text.encode("utf-8", "surrogatepass"), layout, link=link), to_python)


@settings(max_examples=150)
@given(data=st.binary() | st.tuples(_texts, st.binary(max_size=4)).map(lambda both: both[0].encode() + both[1]))
def test_any_bytes(data: bytes, to_python: ToPython) -> None:
    check(compiled(data), to_python)


@settings(max_examples=100)
@given(data=st.binary(max_size=200))
def test_any_bytes_in_a_file_of_any_name(data: bytes, to_python: ToPython) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.txt"
        path.write_bytes(data)
        check(compile_file(str(path)), to_python)


@pytest.mark.share(5)
@pytest.mark.parametrize("document", EXAMPLES, ids=lambda path: path.name.removesuffix(".runbook.md"))
def test_examples_with_errors(document: Path, to_python: ToPython) -> None:
    text = document.read_text(encoding="utf-8")
    check(compiled(text.encode(), link=False), to_python)
    moves = random.Random(document.name)
    for _ in range(8):
        check(compiled(mutated(text, moves).encode(), link=False), to_python)
