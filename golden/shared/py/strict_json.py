# --- JSON that others have written: read strictly, so that what is kept of it is JSON again.
DEEPEST_JSON = 100  # values within each other; Python reads about a thousand, and writes fewer

def read_strictly(text):  # any JSON value
    try:
        found = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError("too many values within each other") from None
    return _kept(found, 0)

def json_or_text(text):
    try:
        return read_strictly(text)
    except ValueError:
        return text

def _no_number(name):
    raise ValueError(f"{name} is not JSON")

def _finite(written):
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written[:40]} is too large a number")
    return number

def _kept(value, depth):
    if depth > DEEPEST_JSON:
        raise ValueError("too many values within each other")
    if isinstance(value, str):
        return NO_TEXT.sub("\ufffd", value)
    if isinstance(value, list):
        return [_kept(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {NO_TEXT.sub("\ufffd", key): _kept(item, depth + 1) for key, item in value.items()}
    return value

