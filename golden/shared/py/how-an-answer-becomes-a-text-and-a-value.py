# --- How an answer becomes a text and a value: pure, for every target alike.
LARGEST_ANSWER = 1 << 20  # bytes
AGENT_SECONDS, TOOL_SECONDS = 1800, 30  # the time limits where a program says nothing
MOST_READ = 1 << 24  # characters of what is no JSON object in the end: so no answer takes for ever
SPACES = " \t\n\r\v\f"
NO_TEXT = "[\0\ud800-\udfff]"
def decoded(answer):
    return cleaned(answer.decode("utf-8", errors="replace"))
def cleaned(text):
    return re.sub(NO_TEXT, "\ufffd", text).strip(SPACES)
def extracted(answer, field):
    decoder, found = json.JSONDecoder(parse_constant=_no_json), answer
    place, work = answer.find("{"), 0
    while place >= 0 and work < MOST_READ:
        try:
            value, end = decoder.raw_decode(answer, place)
        except (ValueError, RecursionError) as error:
            value, end = None, place + 1
            work += getattr(error, "pos", len(answer)) - place
        pending = [value]  # by hand, since a value may be deeper than calls can be
        while pending:
            item = pending.pop()
            if isinstance(item, dict):
                found = _as_text(item[field]) if field in item else found
                item = [*item.values()]
            pending += reversed(item) if isinstance(item, list) else ()
        place = answer.find("{", end)
    return found
def _no_json(name):
    raise ValueError(f"{name} is no JSON, though Python takes it")
def _as_text(value):  # any JSON value
    return cleaned(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))

