"""The navigation of the site: its sections, and the order of the pages in each."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from compiler.diagnostics.model import CODES

Entry = dict[str, "str | list[str | Entry]"]
"""A title with its page, or with the entries below it."""

SECTIONS: dict[str, tuple[str, ...]] = {
    "Tutorial": ("tutorial.md",),
    "How-to guides": (
        "how-to/import.md",
        "how-to/convert.md",
        "how-to/check.md",
        "how-to/editors.md",
        "how-to/project.md",
        "how-to/operate.md",
        "how-to/view.md",
        "how-to/traces.md",
        "how-to/questions.md",
        "how-to/recipes.md",
        "how-to/gitlab.md",
        "how-to/agents.md",
        "how-to/agents-mcp.md",
        "how-to/test.md",
        "how-to/review.md",
        "how-to/rules.md",
        "how-to/project-rules.md",
    ),
    "Formats": ("formats/rundown.md", "formats/playbook.md", "formats/agent_workflow.md", "formats/stepspec.md"),
    "Targets": (
        "targets/index.md",
        "targets/python.md",
        "targets/dbos.md",
        "targets/github.md",
        "targets/make.md",
        "targets/pictures.md",
    ),
    "Reference": (
        "reference/index.md",
        "reference/cli.md",
        "reference/subcommands.md",
        "reference/options.md",
        "reference/environment.md",
        "reference/exit-codes.md",
        "reference/api.md",
    ),
    "Explanation": (
        "explanation/guarantees.md",
        "explanation/semantics.md",
        "explanation/security.md",
        "explanation/runtime.md",
    ),
    "Project": ("examples.md", "changes.md", "contributing.md", "architecture.md"),
}
"""The sections with the pages that come first. The other pages of these folders follow by name."""

LAST = "Project"
"""The section for the pages without a folder."""

GROUPS = {
    "RD000": "Files and syntax",
    "RD100": "Structure of runbooks",
    "RD200": "Targets of GOTO",
    "RD300": "Nested runbooks",
    "RD400": "Paths through a document",
    "RD500": "Options and output",
    "RD700": "Playbooks",
    "RD800": "Agent workflows",
    "RD850": "Step specifications",
}
"""The groups of diagnostics, each by its first code."""


def navigation(pages: Iterable[str]) -> list[Entry]:
    """Return the navigation for pages of the site: each page is in it once."""
    left = [page for page in sorted(pages) if not page.startswith("diagnostics/") and page != "index.md"]
    found: list[Entry] = [{"Home": "index.md"}]
    for title, first in SECTIONS.items():
        folder = first[0].partition("/")[0] + "/"
        mine = [page for page in first if page in left]
        mine += [page for page in left if page not in mine and (page.startswith(folder) or title == LAST)]
        left = [page for page in left if page not in mine]
        entries: list[str | Entry] = [*mine]
        if title == "Reference":
            entries.append({"Diagnostics": ["diagnostics/index.md", *_diagnostics()]})
        if mine:
            found.append({title: mine[0] if mine == ["tutorial.md"] else entries})
    return found


def _diagnostics() -> list[str | Entry]:
    groups = groupby(CODES, key=lambda code: max(start for start in GROUPS if start <= code))
    return [{GROUPS[start]: [f"diagnostics/{code}.md" for code in codes]} for start, codes in groups]
