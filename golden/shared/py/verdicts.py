# --- Verdicts: the word of an answer, and how to join those of several agents. Pure.
LISTED = frozenset(  # keywords that fail by their names
    ("rejected", "reject", "failed", "fail", "error", "blocked", "denied", "changes_requested", "needs_fix")
)
_OPENING = "(?:\x1b[]PX^_]|[\x90\x98\x9d-\x9f])"  # of text that terminals hide, such as the address of a link
_CODE = "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
_ESCAPES = re.compile(f"({_OPENING}[^\x07\x1b\x9c]*)(\x07|\x1b\\\\|\x9c)?|{_CODE}|\x1b[ -/]*[0-~]")
_UNENDED = re.compile(f"{_OPENING}[^\n]*|{_CODE}")
_MARKS = " #*_`"
_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?: +|$)")
_BEFORE = re.compile(r"(?:[ #*_`]|(?:[-+]|\d{1,9}[.)]) )*")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_HTML = re.compile(r"<(!--|(?:pre|script|style|textarea|blockquote)\b)", re.IGNORECASE)
_CLOSING = {
    "!--": re.compile("-->"),
    **{name: re.compile(f"</{name}>", re.IGNORECASE) for name in ("pre", "script", "style", "textarea", "blockquote")},
}
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|unable|without)\b|n['\u2019]t\b", re.IGNORECASE)
_DASH = re.compile(r"[:\u2013\u2014]|\s-|-(?=\s|$)")
_LONGEST_LABEL = 30
REMEDY = "write the verdict on a line of its own"

