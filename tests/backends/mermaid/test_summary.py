"""The picture in the summary of a run on GitHub: Mermaid sees the texts of the document, and nothing else in them."""

from __future__ import annotations

import pytest

from runtime_shim.targets.github.messages import plain
from runtime_shim.targets.github.summary import LONGEST_LABEL, draw_flow
from tests.backends.mermaid.test_mermaid import words
from tests.support.mermaid import Mermaid
from tests.support.sample_programs import HOSTILE

MORE = ("%%{init:{'themeCSS':'.node{opacity:0}'}}%%", "#60;img src=x#62; #quot;]", "flow; direction\tLR", "$$x$$ $$$")


@pytest.mark.parametrize("text", [*HOSTILE, *MORE])
def test_no_text_leaves_its_label(text: str, mermaid: Mermaid) -> None:
    edges = [{"on": "pass", "go": "2"}, {"says": text, "go": "2"}]
    nodes = {
        "1": {"task": "shell", "title": text, "edges": edges},
        "2": {"task": "end", "result": "stop", "message": text},
    }
    finished = [{"node": "1", "outcome": "fail"}]
    picture = draw_flow({"nodes": nodes}, finished).strip().removeprefix("```mermaid").removesuffix("```")
    seen = mermaid.read(picture)
    shown = [plain(f"{start} {text}")[:LONGEST_LABEL] for start in ("1", "STOP")]
    assert [words(box.label) for box in seen.boxes] == [words(one) for one in shown]
    label = plain(text)[:LONGEST_LABEL]
    assert [words(arrow.label) for arrow in seen.arrows] == ["PASS", words(label)]
    assert "%%{" not in picture
