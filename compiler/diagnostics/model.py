"""Define diagnostics as data: a code, a place in a source, a message and a remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from compiler.text.source import LINE_END, Source, Span, sha256_of


class Severity(StrEnum):
    """The importance of a diagnostic; only an error stops compilation."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Related(Struct, frozen=True):
    """A second place that helps to understand a diagnostic, such as the first of two duplicates."""

    path: str
    span: Span
    message: str


class Edit(Struct, frozen=True):
    """A replacement for part of the source; an empty span inserts text, and an empty text deletes the span."""

    span: Span
    text: str


def edited(source: Source, edits: Sequence[Edit]) -> Source:
    """Return the source with these edits, which must not overlap; line endings become the source's."""
    starts = [0, *(end.end() for end in LINE_END.finditer(source.text))]
    text = source.text
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        span = edit.span
        first, end = starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1
        text = text[:first] + edit.text.replace("\n", source.line_end) + text[end:]
    return replace(source, text=text, sha256=sha256_of(source.encode(text)))


class Fix(Struct, frozen=True):
    """Edits that resolve a diagnostic, all in its own file.

    `is_safe` claims that the document keeps its meaning, or that an invalid document can only have had this meaning.
    `rdc/rewrite/fixes.py` proves the claim before it applies a fix.
    """

    edits: tuple[Edit, ...]
    is_safe: bool = False

    @classmethod
    def by(cls, span: Span, text: str, *, is_safe: bool = False) -> Fix:
        """Return the fix that replaces one span."""
        return cls((Edit(span, text),), is_safe)

    @classmethod
    def respelling(cls, span: Span, written: str, meant: str) -> Fix | None:
        """Return the fix that corrects a name, safe if only case or separators differ; None without a suggestion."""
        if not meant or not written:
            return None
        plain, wanted = (name.translate(_SEPARATORS).casefold() for name in (written, meant))
        return cls.by(span, meant, is_safe=plain == wanted)


_SEPARATORS = {ord(character): None for character in "-_ "}


class Diagnostic(Struct, frozen=True):
    """One diagnostic; `span` is None if it applies to the whole file.

    `flow` are the places of a path through the document, in order. With `is_tried`, an error is only a warning.
    """

    code: str
    path: str
    span: Span | None
    message: str
    help: str
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    flow: tuple[Related, ...] = ()
    is_tried: bool = False

    @property
    def severity(self) -> Severity:
        """The severity of the code."""
        return Severity.WARNING if self.is_tried else CODES[self.code].severity


MOST_PLACES = 1000
"""The most places of a path that GitHub displays."""


def shortened(flow: tuple[Related, ...]) -> tuple[Related, ...]:
    """Return the places of a path that GitHub displays: of a long one, the first and the last."""
    half = MOST_PLACES // 2
    return flow if len(flow) <= MOST_PLACES else (*flow[:half], *flow[-half:])


DataPath = tuple[str | int, ...]
"""The keys and indexes that lead to a part of data."""


class Issue(Struct, frozen=True):
    """Something that is wrong in data: the path to it, a message and a remedy.

    It has no code and no file. The reader of the data makes a `Diagnostic` of it. `meant` is the key or string that was
    probably meant. `first` is the path of the first of two duplicates.
    """

    path: DataPath
    message: str
    help: str = ""
    meant: str = ""
    first: DataPath | None = None


class Code(Struct, frozen=True):
    """A diagnostic code's name (kebab-case), severity, and the design rule behind it."""

    name: str
    severity: Severity
    rule: str


def has_error(found: Iterable[Diagnostic]) -> bool:
    """Return whether any diagnostic stops compilation."""
    return any(item.severity is Severity.ERROR for item in found)


def sort_key(diagnostic: Diagnostic) -> tuple[str, int, int, int, int, str, str]:
    """Return the sort key of a diagnostic: by file, place and code, whole files first."""
    at = diagnostic.span or Span(0, 0, 0, 0)
    place = (at.line, at.column, at.end_line, at.end_column)
    return (diagnostic.path, *place, diagnostic.code, diagnostic.message)


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

# Every code that rdc can show. Tests check that each has a page in `explanations/`, and run its example.
CODES: dict[str, Code] = {
    # The file
    "RD001": Code("unreadable-file", _E, "D1"),
    "RD002": Code("invalid-utf8", _E, "D1"),
    "RD003": Code("nul-byte", _E, "D1"),
    "RD004": Code("file-too-large", _E, "D1"),
    "RD005": Code("unknown-format", _E, "D2"),
    "RD006": Code("another-format", _E, "D2"),
    "RD007": Code("useless-ignore", _W, "D2"),
    # Frontmatter and title
    "RD010": Code("broken-frontmatter", _E, "D3"),
    "RD011": Code("unclosed-frontmatter", _E, "D3"),
    "RD012": Code("ignored-metadata", _W, "D3"),
    "RD013": Code("invalid-option", _E, "D3"),
    "RD014": Code("unclear-scenario", _W, "D3"),
    "RD015": Code("delay-not-waited", _W, "E3"),
    "RD016": Code("almost-a-reference", _W, "E1"),
    "RD020": Code("second-title", _W, "D4"),
    "RD021": Code("step-as-title", _E, "D4"),
    "RD022": Code("late-title", _W, "D4"),
    # Headers
    "RD030": Code("heading-too-deep", _E, "D6"),
    "RD031": Code("substep-before-step", _E, "D6"),
    "RD032": Code("invalid-header", _E, "D6"),
    "RD033": Code("underlined-heading", _E, "D6"),
    "RD034": Code("step-looks-like-substep", _W, "D6"),
    "RD035": Code("reserved-name", _E, "G1"),
    "RD036": Code("missing-title", _W, "G1"),
    "RD037": Code("number-too-large", _E, "G1"),
    "RD038": Code("almost-a-header", _W, "D6"),
    # Transitions, references and code blocks
    "RD040": Code("invalid-transition", _E, "G2"),
    "RD041": Code("nested-retry", _E, "G3"),
    "RD042": Code("bare-next", _W, "G4"),
    "RD043": Code("almost-a-transition", _W, "G2"),
    "RD044": Code("almost-a-runbook", _W, "G2"),
    "RD045": Code("unclosed-code-block", _E, "V6"),
    "RD046": Code("invalid-info-string", _E, "V6"),
    "RD047": Code("tag-not-executable", _W, "M2"),
    "RD048": Code("unclosed-comment", _E, "D2"),
    "RD049": Code("swallowed-lines", _W, "D2"),
    "RD050": Code("language-not-run", _W, "M3"),
    "RD051": Code("block-not-run", _W, "M2"),
    "RD052": Code("block-beside-body", _E, "V6"),
    "RD053": Code("no-command", _W, "M2"),
    "RD054": Code("prompt-in-command", _W, "M2"),
    "RD055": Code("placeholder-in-command", _W, "M2"),
    "RD056": Code("expression-in-command", _W, "M2"),
    "RD058": Code("later-language", _E, "V7"),
    "RD059": Code("open-guess", _W, "D2"),
    # Programs as JSON
    "RD060": Code("invalid-json", _E, "I1"),
    "RD061": Code("json-too-large", _E, "D1"),
    "RD062": Code("duplicate-key", _E, "I1"),
    "RD063": Code("unknown-key", _E, "I1"),
    "RD064": Code("missing-key", _E, "I1"),
    "RD065": Code("wrong-value", _E, "I1"),
    "RD066": Code("unfit-name", _E, "I1"),
    "RD067": Code("broken-program", _E, "I2"),
    # Structure
    "RD101": Code("no-steps", _E, "V1"),
    "RD102": Code("steps-out-of-sequence", _E, "V2"),
    "RD103": Code("substeps-out-of-sequence", _E, "V2"),
    "RD104": Code("mixed-step-pattern", _E, "V3"),
    "RD105": Code("named-steps-only", _W, "V3"),
    "RD106": Code("mixed-substep-pattern", _E, "V4"),
    "RD107": Code("wrong-parent-prefix", _E, "V5"),
    "RD108": Code("duplicate-identifier", _E, "V5"),
    "RD109": Code("mixed-bodies", _E, "V6"),
    "RD110": Code("second-code-block", _E, "V6"),
    "RD111": Code("prompt-with-runbooks", _E, "V6"),
    "RD112": Code("content-out-of-order", _E, "V7"),
    "RD113": Code("transitions-after-header", _E, "V7"),
    "RD114": Code("duplicate-transition", _E, "V9"),
    "RD115": Code("conflicting-modifiers", _E, "V9"),
    "RD116": Code("modifier-without-children", _W, "V9"),
    "RD117": Code("unclear-renumbering", _E, "V2"),
    "RD118": Code("empty-step", _W, "M3"),
    "RD119": Code("unknown-section", _W, "D3"),
    "RD120": Code("unfit-outcome", _E, "G2"),
    "RD121": Code("question-beside-command", _W, "M3"),
    "RD122": Code("state-not-kept", _W, "M2"),
    "RD132": Code("failure-unnoticed", _W, "E13"),
    "RD133": Code("strict-sh", _E, "E13"),
    "RD134": Code("reference-in-command", _E, "E1"),
    "RD135": Code("quoted-reference", _W, "E1"),
    "RD136": Code("overlapping-repetitions", _W, "I8"),
    "RD137": Code("outputs-not-declared", _W, "E2"),
    "RD138": Code("transitions-of-last-substep", _W, "V8"),
    "RD139": Code("shortened-identifier", _W, "G1"),
    "RD140": Code("undeclared-reference", _W, "E1"),
    "RD141": Code("variable-in-setting", _W, "E3"),
    # Targets of GOTO
    "RD201": Code("unknown-target", _E, "V10"),
    "RD202": Code("static-target-in-dynamic-step", _E, "V10"),
    "RD203": Code("goto-itself", _E, "V10"),
    "RD204": Code("no-dynamic-target", _E, "V10"),
    "RD205": Code("instance-target-outside", _E, "V10"),
    "RD206": Code("next-outside-dynamic", _E, "V10"),
    "RD207": Code("next-of-static-target", _E, "V10"),
    # Nested runbooks
    "RD301": Code("runbook-not-found", _E, "V11"),
    "RD302": Code("runbook-outside-project", _E, "V11"),
    "RD303": Code("recursive-inclusion", _E, "V11"),
    "RD304": Code("program-too-large", _E, "V11"),
    "RD305": Code("input-never-given", _E, "E9"),
    "RD306": Code("input-declared-differently", _W, "E9"),
    "RD307": Code("output-is-an-input", _E, "E9"),
    "RD308": Code("nameless-project", _N, "R4"),
    # Flow
    "RD401": Code("unreachable-step", _W, "V12"),
    "RD402": Code("no-path-out", _W, "V12"),
    "RD403": Code("never-completes", _W, "V12"),
    "RD404": Code("transition-never-fires", _W, "V12"),
    "RD405": Code("tolerated-failure", _N, "M11"),
    "RD406": Code("failure-continues-to-stop", _N, "M11"),
    "RD407": Code("command-too-long", _E, "M2"),
    "RD408": Code("output-read-too-early", _W, "E2"),
    "RD409": Code("output-never-read", _W, "E2"),
    "RD410": Code("input-never-read", _W, "E1"),
    "RD411": Code("counters-not-followed", _N, "V12"),
    "RD412": Code("limit-never-reached", _W, "E3"),
    "RD420": Code("rule-broken", _E, "P-11"),
    "RD421": Code("rule-not-proven", _E, "P-11"),
    "RD422": Code("rule-not-a-sentence", _E, "architecture"),
    "RD423": Code("rule-selects-nothing", _E, "architecture"),
    # Options and output
    "RD501": Code("invalid-configuration", _E, "V7"),
    "RD502": Code("not-expressible", _E, "architecture"),
    "RD510": Code("foreign-output", _E, "architecture"),
    "RD511": Code("unwritable-output", _E, "architecture"),
    "RD512": Code("stale-output", _E, "architecture"),
    "RD513": Code("output-collision", _E, "architecture"),
    "RD514": Code("cannot-draw", _E, "architecture"),
    "RD515": Code("not-formatted", _E, "architecture"),
    "RD520": Code("not-for-reviewers", _E, "architecture"),
    "RD521": Code("beyond-limit", _E, "architecture"),
    "RD522": Code("unpinned-action", _W, "architecture"),
    "RD523": Code("schedule-waits", _W, "architecture"),
    "RD524": Code("companion-outside", _E, "architecture"),
    "RD525": Code("companion-collision", _E, "architecture"),
    "RD526": Code("several-files", _E, "architecture"),
    "RD527": Code("needs-reviewers", _N, "architecture"),
    "RD528": Code("keeps-login", _W, "architecture"),
    "RD530": Code("reserved-input", _E, "architecture"),
    "RD532": Code("no-command-for-call", _E, "architecture"),
    "RD533": Code("approval-says-too-little", _E, "architecture"),
    "RD534": Code("input-without-source", _E, "architecture"),
    "RD535": Code("workspace-dropped", _W, "architecture"),
    "RD536": Code("matrix-in-loop", _N, "architecture"),
    "RD537": Code("longer-than-job", _W, "architecture"),
    "RD538": Code("space-in-path", _W, "architecture"),
    "RD539": Code("calls-program", _N, "architecture"),
    "RD540": Code("unused-option", _E, "architecture"),
    "RD541": Code("runner-file-out-of-reach", _W, "architecture"),
    "RD542": Code("wrong-version", _E, "architecture"),
    "RD543": Code("edited-output", _E, "architecture"),
    "RD544": Code("missing-output", _E, "architecture"),
    "RD545": Code("leftover-output", _E, "architecture"),
    "RD546": Code("new-item", _E, "architecture"),
    "RD547": Code("unmatched-source", _E, "architecture"),
    "RD548": Code("workflow-in-subfolder", _E, "architecture"),
    "RD549": Code("started-by-anyone", _W, "architecture"),
    "RD550": Code("agent-not-installed", _W, "architecture"),
    "RD551": Code("unfit-skill", _E, "architecture"),
    # The form of playbooks
    "RD700": Code("step-number-too-large", _E, "P4"),
    "RD701": Code("empty-playbook", _E, "P1"),
    "RD702": Code("playbook-too-large", _E, "P1"),
    "RD703": Code("playbook-without-title", _E, "P2"),
    "RD704": Code("playbook-without-steps", _E, "P4"),
    "RD705": Code("input-declared-twice", _E, "P7"),
    "RD706": Code("nested-branches", _E, "P14"),
    "RD707": Code("unclosed-if", _E, "P14"),
    "RD708": Code("stray-marker", _E, "P14"),
    "RD709": Code("unordered-step", _W, "P4"),
    "RD710": Code("malformed-input", _W, "P7"),
    "RD711": Code("unknown-question", _W, "P11"),
    "RD712": Code("unknown-artifact", _W, "P15"),
    "RD713": Code("almost-a-step", _E, "P4"),
    "RD714": Code("malformed-directive", _W, "P9"),
    "RD715": Code("unknown-directive", _W, "P13"),
    "RD716": Code("almost-a-marker", _W, "P14"),
    "RD717": Code("misplaced-substep", _W, "P14"),
    "RD718": Code("misplaced-text", _W, "P14"),
    "RD719": Code("overridden-part", _W, "P10"),
    # The meaning of playbooks
    "RD720": Code("undeclared-variable", _W, "P14"),
    "RD721": Code("unresolved-placeholder", _W, "P9"),
    "RD722": Code("directive-beside-tool", _W, "P13"),
    "RD723": Code("invalid-arguments", _E, "P13"),
    "RD724": Code("unknown-prompt-scheme", _W, "P12"),
    "RD725": Code("unfit-default", _W, "P8"),
    "RD726": Code("unclear-question", _W, "P11"),
    "RD727": Code("branch-never-runs", _W, "P14"),
    "RD728": Code("unusable-options", _W, "P8"),
    "RD729": Code("too-many-repetitions", _E, "P16"),
    "RD730": Code("step-of-nothing", _W, "P17"),
    "RD731": Code("condition-on-boolean", _N, "P14"),
    "RD732": Code("misspelled-type", _E, "P8"),
    "RD733": Code("unknown-type", _W, "P8"),
    "RD734": Code("skipped-section", _N, "P3"),
    "RD735": Code("artifact-without-type", _W, "P15"),
    "RD736": Code("almost-an-input", _W, "P7"),
    "RD737": Code("step-without-number", _W, "P4"),
    "RD738": Code("output-below-branches", _E, "P14"),
    # References in playbooks
    "RD740": Code("prompt-outside", _E, "P12"),
    "RD741": Code("prompt-not-found", _E, "P12"),
    "RD742": Code("unfit-prompt", _E, "P12"),
    "RD743": Code("unreadable-scenarios", _E, "P2"),
    # The form of agent workflows
    "RD800": Code("broken-workflow", _E, "W1"),
    "RD801": Code("workflow-too-large", _E, "W1"),
    "RD802": Code("repeated-key", _E, "W1"),
    "RD803": Code("unknown-workflow-key", _W, "W1"),
    "RD804": Code("missing-workflow-key", _E, "W1"),
    "RD805": Code("wrong-workflow-value", _E, "W1"),
    "RD806": Code("unfit-workflow-name", _E, "W1"),
    "RD807": Code("repeated-step-name", _E, "W1"),
    "RD808": Code("same-file", _E, "W1"),
    "RD809": Code("prompt-or-parallel", _E, "W2"),
    "RD810": Code("gate-in-entry", _E, "W2"),
    "RD811": Code("invalid-validation", _E, "W3"),
    "RD812": Code("misplaced-end", _E, "W4"),
    "RD813": Code("misplaced-check", _E, "W4"),
    "RD814": Code("missing-check", _W, "W4"),
    "RD815": Code("reserved-keyword", _E, "W4"),
    "RD816": Code("repeated-keyword", _E, "W4"),
    "RD817": Code("unknown-step", _E, "W4"),
    "RD818": Code("unfit-keyword", _E, "W4"),
    "RD819": Code("newer-schema", _E, "W1"),
    # The meaning of agent workflows
    "RD830": Code("next-beside-end", _W, "W5"),
    "RD831": Code("no-transition", _W, "W5"),
    "RD832": Code("keyword-never-valid", _W, "W5"),
    "RD833": Code("unlisted-agent", _W, "W4"),
    "RD834": Code("keyword-of-rdc", _W, "W9"),
    "RD835": Code("verdict-without-conditions", _W, "W12"),
    "RD836": Code("doubled-extension", _W, "W7"),
    # Step specifications
    "RD850": Code("broken-specification", _E, "B1"),
    "RD851": Code("specification-too-large", _E, "B1"),
    "RD852": Code("repeated-specification-key", _E, "B1"),
    "RD853": Code("unknown-specification-key", _W, "B2"),
    "RD854": Code("missing-specification-key", _E, "B2"),
    "RD855": Code("wrong-specification-value", _E, "B2"),
    "RD856": Code("unfit-step-id", _E, "B2"),
    "RD857": Code("repeated-step-id", _E, "B2"),
    "RD858": Code("clashing-names", _E, "B2"),
    "RD859": Code("output-without-folder", _E, "B2"),
    "RD860": Code("path-outside", _E, "B3"),
    "RD861": Code("wrong-context-value", _E, "B2"),
    "RD862": Code("unknown-context-key", _W, "B17"),
    "RD863": Code("several-levels", _N, "B2"),
    "RD864": Code("unfit-tool-arguments", _E, "B9"),
    "RD865": Code("unknown-tool", _W, "B9"),
    "RD866": Code("unused-variable", _W, "B3"),
    "RD867": Code("unclear-validation", _W, "B11"),
    "RD868": Code("unusable-configuration", _E, "B8"),
    "RD869": Code("conflicting-configuration", _E, "B8"),
    "RD870": Code("unfit-guardrail", _E, "B10"),
    "RD871": Code("built-in-tool", _E, "B9"),
    "RD872": Code("gate-never-asked", _N, "B8"),
    "RD873": Code("misspelled-safeguard", _E, "B8"),
    "RD874": Code("doubled-braces", _E, "B3"),
    "RD875": Code("rule-never-met", _W, "B8"),
    "RD876": Code("output-is-folder", _E, "B2"),
    "RD877": Code("evidence-without-output", _W, "B13"),
    "RD878": Code("skipped-check", _N, "B11"),
}
