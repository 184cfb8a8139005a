"""The drafts of some pages, as files that people can read.

To write one again after a change: remove it, and run `rdc import NAME.md -o NAME.draft` in the folder `pages`.
"""

from pathlib import Path

import pytest

from compiler.importers.page import Imported, Options, import_page
from compiler.text.files import read_source
from compiler.text.source import Source

FOLDER = Path(__file__).parent / "pages"
PAGES = sorted(FOLDER.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_gives_this_draft(page: Path) -> None:
    source = read_source(page, page.name, page.name)
    assert isinstance(source, Source)
    made = import_page(source, page.name, Options())
    assert isinstance(made, Imported)
    assert made.text == page.with_suffix(".draft").read_text(encoding="utf-8")


def test_each_draft_has_its_page() -> None:
    assert {path.stem for path in FOLDER.glob("*.draft")} == {path.stem for path in PAGES} != set()
