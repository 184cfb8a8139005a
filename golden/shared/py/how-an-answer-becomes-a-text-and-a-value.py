# --- How an answer becomes a text and a value: pure, for every target alike (I11, I13, I19).
LARGEST_ANSWER = 1 << 20  # bytes
AGENT_SECONDS, TOOL_SECONDS = 1800, 30  # the time limits where a program says nothing (I21)
MOST_READ = 1 << 24  # characters of what is no JSON object in the end: so no answer takes for ever
SPACES = " \t\n\r\v\f"
NO_TEXT = re.compile("[\0\ud800-\udfff]")
COLOURS = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]")  # what tells a terminal how to show the words beside it

def decoded(answer):
    return cleaned(answer.decode("utf-8", errors="replace"))

def cleaned(text):
    return NO_TEXT.sub("\ufffd", text).strip(SPACES)

def extracted(answer, field):
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

def _objects_in(value):  # any JSON value
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

def _as_text(value):  # any JSON value
    return cleaned(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))

def in_json(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]

