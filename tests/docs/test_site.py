"""The site builds, its links lead somewhere, it loads nothing from elsewhere, and it reads as the pages on GitHub."""

import json
import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

from compiler.diagnostics.model import CODES
from tests.conftest import ROOT
from tests.support.once import shared
from tools.site.build import build
from tools.site.pages import converted, places
from tools.site.reading import Page, parsed, read

pytestmark = [pytest.mark.process, pytest.mark.soak]  # `make site` before a release

Pages = dict[str, Page]

LOADERS = {"mermaid", "glightbox", "pyodide", "md-source", "arithmatex"}
"""The theme's script loads something from another host for elements of these classes."""

HOSTS = {"api.github.com", "cdn.jsdelivr.net", "unpkg.com", "www.w3.org"}
"""The hosts in the theme's script: names of XML, and what `LOADERS` load. A new one needs a look."""

ADDRESS = re.compile(r"""(?:url\(|@import\s)\s*["']?(?:https?:)?//""")
"""How a style sheet loads something from another host."""


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of the built site; a broken link raises an error."""
    return shared("site", build) / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> Pages:
    return {path.relative_to(site).as_posix(): read(path) for path in sorted(site.rglob("*.html"))}


def resolved(site: Path, page: str, link: str) -> tuple[str, str]:
    """Return the file that a link leads to, as a path from the root of the site, and the anchor in it."""
    parts = urlsplit(link)
    joined = posixpath.join("/", posixpath.dirname(page), unquote(parts.path)) if parts.path else f"/{page}"
    target = posixpath.normpath(joined).lstrip("/")
    return (f"{target}/index.html" if (site / target).is_dir() else target), unquote(parts.fragment)


def is_internal(link: str) -> bool:
    parts = urlsplit(link)
    return not parts.scheme and not parts.netloc


def test_every_link_and_anchor_leads_somewhere(site: Path, pages: Pages) -> None:
    broken = []
    for name, page in pages.items():
        for link in filter(is_internal, page.links | page.navigation | page.loaded):
            target, anchor = resolved(site, name, link)
            if not (site / target).is_file() or (anchor and target in pages and anchor not in pages[target].anchors):
                broken.append(f"{name}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_another_host(site: Path, pages: Pages) -> None:
    assert [f"{name}: {link}" for name, page in pages.items() for link in page.loaded if not is_internal(link)] == []
    assert [f"{name}: {found}" for name, page in pages.items() if (found := page.classes & LOADERS)] == []
    scripts = [path.read_text(encoding="utf-8") for path in (site / "assets").rglob("*.js")]
    assert {host for script in scripts for host in re.findall(r"https?://([\w.-]+)", script)} <= HOSTS
    sheets = [path for path in site.rglob("*") if path.suffix in {".css", ".svg"}]
    assert [path.name for path in sheets if ADDRESS.search(path.read_text(encoding="utf-8"))] == []


def test_every_page_is_reached_by_the_navigation_and_the_search(site: Path, pages: Pages) -> None:
    reached, left = set(), ["index.html"]
    while left:
        name = left.pop()
        if name not in reached and name in pages:
            reached.add(name)
            left += [resolved(site, name, link)[0] for link in pages[name].navigation if is_internal(link)]
    assert pages.keys() - reached - {"404.html"} == set()
    assert {f"diagnostics/{code}.html" for code in CODES} <= pages.keys()
    assert CODES["RD113"].name in (site / "diagnostics" / "RD113.html").read_text(encoding="utf-8")
    data = json.loads((site / "search.json").read_text(encoding="utf-8"))
    assert pages.keys() - {"404.html"} <= {item["location"].partition("#")[0] for item in data["items"]}
    assert (site / "search.js").is_file()  # for pages that are opened as files


def test_pages_read_as_on_github(pages: Pages) -> None:
    differing = []
    for source in [path for path, place in places().items() if place.endswith(".md")]:
        text = (ROOT / source).read_text(encoding="utf-8")
        wanted = parsed(MarkdownIt("commonmark").enable("table").render(text), whole=True)
        shown = pages[places()[source].removesuffix(".md") + ".html"]
        if wanted.elements != shown.elements or "".join(wanted.words) != "".join(shown.words):
            differing.append(source)
    assert differing == []


def test_links_between_pages_become_links_of_the_site() -> None:
    known = {"docs/a/x.md": "a/x.md", "docs/y.md": "y.md", "README.md": "index.md"}
    text = "See [y](../y.md#top), [the\nhome](../../README.md), [the license](../../LICENSE) and `[z](z.md)`.\n"
    wanted = "See [y](../y.md#top), [the\nhome](../index.md), the license and `[z](z.md)`.\n"
    assert converted("docs/a/x.md", text, known) == wanted


def test_lists_are_indented_as_the_generator_wants_it() -> None:
    text = "First:\n- a\n  - b\n\n    ```bash\n    run\n    ```\n\n1. c\n\n   more\n"
    wanted = "First:\n\n- a\n    - b\n\n        ```bash\n        run\n        ```\n\n1. c\n\n    more\n"
    assert converted("docs/x.md", text, {}) == wanted
