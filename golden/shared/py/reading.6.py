# --- How an answer becomes a text, a word and a value: pure, for every target alike (I11 to I14, I19).
LARGEST_ANSWER = 1 << 20  # bytes
AGENT_SECONDS, TOOL_SECONDS = 1800, 30  # the time limits where a program says nothing (I21)
MOST_READ = 1 << 24  # characters of what is no JSON object in the end: so no answer takes for ever
SPACES = " \t\n\r\v\f"
NO_TEXT = re.compile("[\0\ud800-\udfff]")
COLOURS = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]")  # what tells a terminal how to show the words beside it

def decoded(answer):  # Return the text of an answer: what is not UTF-8, and NUL, is U+FFFD; no spaces around (I11).
    return cleaned(answer.decode("utf-8", errors="replace"))

def cleaned(text):  # Return a text without what no target could keep, and without spaces at both ends.
    return NO_TEXT.sub("\ufffd", text).strip(SPACES)

def keywords_in(answer, keywords):  # Return the keywords of the line that decides; several are ambiguous (I12).
    ordered = sorted(keywords, key=len, reverse=True)
    alternatives = "|".join(f"({re.escape(keyword)})" for keyword in ordered)
    # Underscores around a word are emphasis of Markdown; within one they belong to it.
    exact, alike = (re.compile(rf"(?<!\w)_*(?:{alternatives})(?!_*[^\W_])", flags) for flags in (0, re.IGNORECASE))
    said = set()
    for line in reversed(answer.split("\n")):
        found, folded = (
            {ordered[match.lastindex - 1] for match in pattern.finditer(line) if match.lastindex}
            for pattern in (exact, alike)
        )
        if found:  # what an earlier line says in exact case may be a quotation, and so may the word below it
            return found | said
        said = said or folded
    return said

def is_found(pattern, answer):  # Tell whether a validation pattern matches somewhere in an answer (I12).
    return re.search(pattern, answer, re.IGNORECASE) is not None

def read_word(answer, keywords, validation=None, excused=(), search=is_found):
    """Return the word of an answer, or of none (I12)."""
    if keywords:
        return _decided(answer, keywords, validation, excused, search)
    return "pass" if answer else "fail"

def _decided(answer, keywords, validation, excused, search):
    if not answer:
        return "failed"
    answer = COLOURS.sub("", answer)
    found = keywords_in(answer, keywords)
    is_excused = len(found) == 1 and bool(found & set(excused))
    if validation is not None and not is_excused and not search(validation, answer):
        return "invalid"
    if len(found) > 1:
        return "ambiguous"
    return found.pop() if found else "none"

def joined_word(words, check, failing=(), unanimous=()):  # Join the words of entries (I14); `fail` fails.
    for trouble in ("failed", "invalid", "ambiguous"):
        if trouble in words:
            return trouble
    if words[0] in set(unanimous) and len(set(words)) == 1:
        return words[0]
    counted = [word for word in words if word != "none" and word not in set(unanimous)]
    bad = [word for word in counted if word in set(failing)]
    good = [word for word in counted if word not in set(failing)]
    if check == "any":
        return (good or bad or ["none"])[0]
    if bad:
        return bad[0]
    return "ambiguous" if len(set(good)) > 1 else (good or ["none"])[0]

def joined_answer(answers):  # Return the text of a parallel step: its answers, an empty line between two (I14).
    return "\n\n".join(answer for answer in answers if answer)

def extracted(answer, field):
    """Return the field of the last JSON object in an answer that has it, else the whole answer (I19)."""
    decoder, found = json.JSONDecoder(parse_constant=_no_json), answer
    place, work = answer.find("{"), 0
    while place >= 0 and work < MOST_READ:
        try:
            value, end = decoder.raw_decode(answer, place)
        except (ValueError, RecursionError) as error:
            work += getattr(error, "pos", len(answer)) - place
            place = answer.find("{", place + 1)
            continue
        for inner in _objects_in(value):
            found = _as_text(inner[field]) if field in inner else found
        place = answer.find("{", end)
    return found

def _objects_in(value):  # Return the objects of a value in the order in which they begin.
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield item
            pending += reversed(item.values())
        elif isinstance(item, list):
            pending += reversed(item)

def _no_json(name):
    raise ValueError(f"{name} is no JSON, though Python takes it")

def _as_text(value):
    return cleaned(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))

