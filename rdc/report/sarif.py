"""Diagnostics as SARIF 2.1.0, for code scanning services and editors."""

import json
import os
from urllib.parse import quote

from compiler.diagnostics.issues import page, page_of
from compiler.diagnostics.model import CODES, Diagnostic, Fix, Related, shortened
from compiler.text.source import Span
from rdc import __version__
from rdc.report.report import Report

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report) -> str:
    """Return the report as a SARIF log with one run, in ASCII."""
    codes = sorted({diagnostic.code for diagnostic in report.diagnostics})
    run = {
        "tool": {
            "driver": {
                "name": "rdc",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code, report.docs_url) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnostic, codes.index(diagnostic.code)) for diagnostic in report.diagnostics],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str, docs_url: str) -> dict[str, object]:
    known = CODES[code]
    explanation = page(code)
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in known.name.split("-")),
        "shortDescription": {"text": known.name.replace("-", " ").capitalize()},
        "help": {"text": explanation, "markdown": explanation},
        **({"helpUri": page_of(docs_url, code)} if docs_url else {}),
        "defaultConfiguration": {"level": known.severity},
        "properties": {"rule": known.rule},
    }


def _result(diagnostic: Diagnostic, index: int) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": diagnostic.severity,
        "message": {"text": "\n\n".join(filter(None, (diagnostic.message, diagnostic.help)))},
        "locations": [{"physicalLocation": _place(diagnostic.path, diagnostic.span)}],
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _place(one.path, one.span), "message": {"text": one.message}}
            for number, one in enumerate(diagnostic.related, 1)
        ]
    if diagnostic.flow:
        result["codeFlows"] = [{"threadFlows": [{"locations": [*map(_step, shortened(diagnostic.flow))]}]}]
    if diagnostic.fix:
        result["fixes"] = [_fix(diagnostic.path, diagnostic.fix, diagnostic.help)]
    return result


def _step(one: Related) -> dict[str, object]:
    return {"location": {"physicalLocation": _place(one.path, one.span), "message": {"text": one.message}}}


def _fix(path: str, fix: Fix, remedy: str) -> dict[str, object]:
    """Return a fix. Viewers offer all fixes, so the description has a warning if the meaning may change."""
    replacements = [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in fix.edits]
    change = {"artifactLocation": {"uri": _uri(path)}, "replacements": replacements}
    text = remedy if fix.is_safe else f"{remedy} (this may change the meaning of the document)"
    return {"description": {"text": text}, "artifactChanges": [change]}


def _place(path: str, span: Span | None) -> dict[str, object]:
    place: dict[str, object] = {"artifactLocation": {"uri": _uri(path)}}
    if span:
        place["region"] = _region(span)
    return place


def _region(span: Span) -> dict[str, object]:
    return {"startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column}


def _uri(path: str) -> str:
    """Return a relative reference, or a `file:` URI for an absolute path, percent-encoded."""
    encoded = quote(os.fsencode(path))
    return f"file://{encoded}" if path.startswith("/") else encoded
