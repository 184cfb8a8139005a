# --- Patterns --------------------------------------------------------------------------------------------------------

_EMPHASIS = re.compile(r"(?<!\w)_+|(?<!_)_+(?!\w)")
_WHOLE = r"(?:(?<!\w)|(?!\w))"  # not inside a word
_AROUND = r"(?m:^)(?:[ \t#*_`]|(?:[-+]|\d{1,9}[.)])[ \t]){0,20}", r"[ \t#*_`]{0,20}[.!]?[ \t#*_`]{0,20}(?m:$)"
def _wrapped(pattern, before, after):
    flags = re.match(r"(?:\(\?[a-zA-Z]+\))*", pattern)
    first = flags[0] if flags else ""
    return f"{first}{before}(?:{pattern[len(first) :]}{chr(10) if 'x' in first else ''}){after}"
def look(function, pattern, answer):  # a boolean or a list
    made = re.compile(pattern, re.IGNORECASE)
    if function == "last":
        return [found[1] or "" for found in made.finditer(answer)][-1:] if made.groups else []
    return made.search(answer) is not None
def is_found(pattern, answer, search=look):
    whole, bare = _wrapped(pattern, _WHOLE, _WHOLE), _EMPHASIS.sub(" ", answer)
    return bool(search("search", whole, answer) or (bare != answer and search("search", whole, bare)))

