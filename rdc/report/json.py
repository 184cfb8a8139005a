"""Diagnostics for tools, as one JSON object:

    {
      "version": 1,
      "diagnostics": [
        {
          "code": "RD201", "name": "unknown-target", "severity": "error", "rule": "V10",
          "path": "deploy.runbook.md", "line": 12, "column": 9, "end_line": 12, "end_column": 16,
          "message": "there is no step `10`", "help": "the steps are 1, 2, Cleanup",
          "related": [
            {"path": …, "line": …, "column": …, "end_line": …, "end_column": …, "message": …}
          ],
          "fix": {
            "is_safe": false,
            "edits": [{"line": …, "column": …, "end_line": …, "end_column": …, "text": "GOTO 1"}]
          }
        }
      ],
      "summary": {"errors": 1, "warnings": 0, "notes": 0, "files": 1}
    }

Lines and columns start at 1. Columns are Unicode code points. The end is exclusive. All four are null if a diagnostic
is about a whole file. `version` changes if a field is removed or changes its meaning; new fields don't change it.
`files` is the number of files with findings.

`fix` is null if a diagnostic has no fix. Its edits don't overlap. Their positions refer to the current file at `path`.
`rdc check --fix` applies a safe fix if it can prove that the fix keeps the meaning.

If `docs-url` in `rdc.toml` is set, each diagnostic also has `url`, the address of its page.

A diagnostic about a path through the document also has `flow`, the places of the path in order, as in `related`. With
`--rules`, the object also has `rules`, which docs/how-to/project-rules.md describes.

For a playbook, the object also has `playbook`, the document's facts (docs/formats/playbook.md). For several files,
`playbooks` has these facts by path.
"""  # noqa: D415 (the object ends the sentence)

import json

from msgspec.structs import asdict

from compiler.diagnostics.issues import page_of
from compiler.diagnostics.model import CODES, Diagnostic, Related, Severity
from compiler.text.source import Span
from rdc.report.report import Report


def render(report: Report) -> str:
    """The report as JSON in ASCII, which every terminal and locale takes."""
    document = {
        "version": 1,
        "diagnostics": [_diagnostic(diagnostic, report.docs_url) for diagnostic in report.diagnostics],
        "summary": {
            "errors": report.count(Severity.ERROR),
            "warnings": report.count(Severity.WARNING),
            "notes": report.count(Severity.NOTE),
            "files": report.files,
        },
        **report.facts,
    }
    return json.dumps(document, indent=2)


def _diagnostic(diagnostic: Diagnostic, docs_url: str) -> dict[str, object]:
    code, fix = CODES[diagnostic.code], diagnostic.fix
    return {
        "code": diagnostic.code,
        "name": code.name,
        "severity": diagnostic.severity,
        "rule": code.rule,
        **({"url": page_of(docs_url, diagnostic.code)} if docs_url else {}),
        "path": diagnostic.path,
        **_range(diagnostic.span),
        "message": diagnostic.message,
        "help": diagnostic.help,
        "related": [*map(_related, diagnostic.related)],
        **({"flow": [*map(_related, diagnostic.flow)]} if diagnostic.flow else {}),
        "fix": fix
        and {"is_safe": fix.is_safe, "edits": [{**_range(edit.span), "text": edit.text} for edit in fix.edits]},
    }


def _related(near: Related) -> dict[str, object]:
    return {"path": near.path, **_range(near.span), "message": near.message}


def _range(span: Span | None) -> dict[str, object]:
    return asdict(span) if span else dict.fromkeys(Span.__struct_fields__)
