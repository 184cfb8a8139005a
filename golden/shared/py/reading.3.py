# --- How an answer becomes a text, a word and a value: pure, for every target alike (I11 to I14, I19).
MOST_READ = 1 << 24  # characters of what is no JSON object in the end: so no answer takes for ever
SPACES = " \t\n\r\v\f"
NO_TEXT = re.compile("[\0\ud800-\udfff]")

def cleaned(text):  # Return a text without what no target could keep, and without spaces at both ends.
    return NO_TEXT.sub("\ufffd", text).strip(SPACES)

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

