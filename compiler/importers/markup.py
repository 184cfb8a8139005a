"""Write text of a page so that a runbook reads it only as text."""

import re
from collections.abc import Iterable
from typing import Any

import pyromark

from compiler.frontends.rundown.check.rules import check
from compiler.frontends.rundown.parse.document import parse
from compiler.frontends.rundown.printing import fenced
from compiler.text.regex import Regex
from compiler.text.source import Source

_SUSPECT = Regex(
    r"^[ \t]*(?:[-*+#<>`~=|\[]|\d+[.)])|[?<]|\b(?:PASS|FAIL|YES|NO)\b|[yn]\]|^\s*(?:pass|fail|yes|no)\b|\t|\*\*\d",
    re.MULTILINE | re.IGNORECASE,
)
"""Matches text that a runbook may read as more than text."""

_ABOUT_VALUES = frozenset({"RD016", "RD140"})
"""Codes of references without a value, which stay as written."""

_CLAUSE = Regex(
    r" [—–-] | \(|(?<=\w)[.:;] "
    r"|,? (?:and then|because|by(?= \w+ing\b)|in order to|so that|using|via|whereas|which|while) "
)
"""Matches words that only explain those before them."""

_LANGUAGE = Regex(r"[^\w+#-]+")


def safe(text: str) -> str:
    """Return Markdown as it is if a runbook reads it as text and reports nothing, otherwise in a quote or a block."""
    text = text.strip("\n")
    if not text.strip() or not _SUSPECT.search(text):
        return text
    tagged = _only_shown(text)
    tried = (text, tagged, quoted(tagged))
    return next((one for one in tried if _is_text(one)), shown(text, ""))


def _is_text(text: str) -> bool:
    source = Source.from_text("", f"## 1. T\n\n{text}\n\n```bash\ntrue\n```\n")
    parsed = parse(source, "after-body")
    if parsed.runbook is None or parsed.diagnostics or len(parsed.runbook.steps) != 1:
        return False
    step = parsed.runbook.steps[0]
    is_whole = step.code is not None and step.code.text == "true\n" and step.prompt == text.rstrip()
    found = {one.code for one in check(source, parsed.runbook)} - _ABOUT_VALUES
    return is_whole and not step.substeps and not found


def _only_shown(text: str) -> str:
    """Return Markdown whose blocks have tags that nothing runs."""
    data, parts, place = text.encode(), list[bytes](), 0
    events: Iterable[tuple[Any, Any]] = pyromark.events_with_range(text)
    for event, where in events:
        block = event["Start"].get("CodeBlock") if "Start" in event and isinstance(event["Start"], dict) else None
        if isinstance(block, dict) and block["Fenced"].strip():
            opening = data[where["start"] :].split(b"\n", 1)[0]
            marks = len(opening) - len(opening.lstrip(b"`~"))
            parts += [data[place : where["start"] + marks], tag(block["Fenced"]).encode()]
            place = where["start"] + len(opening)
    return b"".join([*parts, data[place:]]).decode()


def quoted(text: str) -> str:
    """Return text as a quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def tag(info: str, otherwise: str = "text") -> str:
    """Return the info string for a block that is only shown."""
    words = _LANGUAGE.sub(" ", info).split()
    return f"{words[0] if words and words[0] != 'prompt' else otherwise} prompt"


def shown(code: str, language: str) -> str:
    """Return a block inside text, which nothing runs."""
    return quoted(fenced(code, tag(language)))


def cut(text: str, most: int = 80) -> str:
    """Return plain text on one line without its closing mark, shortened before a clause, an open bracket or a word."""
    line = " ".join(text.split()).rstrip(" .:,;")
    if len(line) <= most:
        return line
    if clauses := [found.start() for found in _CLAUSE.finditer(line, 0, most) if found.start() > most // 4]:
        return line[: clauses[-1]]
    line = line[:most].rpartition(" ")[0]
    opening = max(line.rfind("("), line.rfind("["))
    line = line[:opening] if opening > most // 4 and not {")", "]"} & set(line[opening:]) else line
    return line.rstrip(" .:,;(") + "…"


def span(code: str) -> str:
    """Return a code span."""
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", code)), default=0) + 1)
    space = " " if code[:1] == "`" or code[-1:] == "`" else ""
    return f"{ticks}{space}{code}{space}{ticks}"


def capital(text: str) -> str:
    """Return text with a capital letter in front."""
    return text[:1].upper() + text[1:]


_WORDS = """
access acknowledge activate add adjust allow analyze annotate answer append apply approve archive ask
assign attach audit authenticate avoid await back backup batch block bootstrap bring browse build bump call cancel
capture change check checkout choose classify clean clear click clone close collect commit compare compile complete
compose compute configure confirm connect consider consult contact continue convert copy cordon correlate count create
crop cut decide decommission decrease decrypt deduplicate define delegate delete demote deploy derive describe design
destroy detach detect determine diagnose disable disconnect discover dispatch display do document download draft drain
drop dump edit embed enable encode encrypt engage ensure enter escalate establish estimate evaluate examine execute
expand explain export extend extract fail fetch fill filter finalize find finish fix flag flash flush focus follow
force fork format free gather generate get give go grant grep group handle highlight identify implement import
increase infer inform initialize inject insert inspect install investigate invite invoke isolate issue iterate join
keep kill label launch leave let limit link lint list load locate lock log login look loop lower make mark measure
mention merge migrate mirror mock modify monitor mount move name navigate normalize notify observe obtain offer
omit open organize outline override page parse paste patch pause perform persist pick pin ping place plan point
populate post prefer prepare present preserve press prevent print prioritize probe proceed produce promote prompt
propose provide provision prune publish pull purge push put query quit raise rank rate reach read rebase reboot rebuild
recommend reconcile reconnect record recover recreate redeploy redirect redo reduce refactor refer refine refresh
register reinstall reject release reload remove rename render renew repair repeat replace replay reply report
reproduce request rerun resend reset resize resolve respond restart restore resume retrieve retry return reuse revert
review revoke roll rollback rotate route run sanitize save scaffold scale scan schedule scope score search secure see
seed select send separate set ship show shut sign silence simplify simulate sketch skip snapshot spawn specify spin
split ssh stage start state stop store strip stub study submit subscribe suggest summarize supply surface suspend
swap switch sync synthesize tag tail take talk tear tell terminate test tick tidy toggle trace track transfer trigger
trim troubleshoot try tune turn tweak type undo uninstall unlock unmount unset untar untick update upgrade upload use
validate verify view visit vote wait warm warn watch wire work wrap write
"""
VERBS = frozenset(_WORDS.split())  # they start an instruction
