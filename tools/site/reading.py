"""Reads built pages: their anchors, their links, and the files that they load."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

COUNTED = {"li", "pre", "table", "tr", "td", "h1", "h2", "h3", "img", "strong", "em"}
"""The elements that two renderings of a page must have in common."""

LINKS = {"href", "src", "data", "poster", "action", "srcset"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Page:
    """A page: its ids, its links outside and inside of navigation, the files that it loads, and its article."""

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    navigation: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    elements: Counter[str] = field(default_factory=Counter)
    words: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """Fills a `Page`. Elements and words count in the article only, or everywhere if `whole` is set."""

    def __init__(self, *, whole: bool = False) -> None:
        super().__init__()
        self.page = Page()
        self._whole = whole
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self._open.append((tag, given.get("class", "")))
        self.page.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        self.page.classes.update(given.get("class", "").split())
        for name in LINKS & given.keys():
            if tag == "a":
                (self.page.navigation if self._inside("nav") else self.page.links).add(given[name])
            else:
                self.page.loaded.add(given[name])
        if self._counts() and tag in COUNTED:
            self.page.elements[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        while tag not in VOID and self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._counts():
            self.page.words += data.split()

    def _counts(self) -> bool:
        is_ours = not any(
            {"headerlink", "filename", "md-path", "facts"} & set(classes.split()) for _, classes in self._open
        )
        return is_ours and (self._whole or self._inside("article"))

    def _inside(self, tag: str) -> bool:
        return any(tag == each for each, _ in self._open)


def read(path: Path) -> Page:
    """Read a built page."""
    return parsed(path.read_text(encoding="utf-8"))


def parsed(html: str, *, whole: bool = False) -> Page:
    """Read HTML."""
    reader = Reader(whole=whole)
    reader.feed(html)
    return reader.page
