# --- Files of mocks: what agents, tools and executors do in a mock run, by step and by tool, in order.
KINDS = ("agents", "tools", "executors")

# What is answered, or why that fails, "" if it does not.
Reply = collections.namedtuple("Reply", "text trouble", defaults=('',))
READ_AS = {"executors": lambda _place, found: found}
"""How the items of a kind are read: those of executors by who plays them."""

def mocks_in(path, text):  # Read the text of a file of mocks, in YAML or JSON; `path` is what the file is called.
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else read_plain(text)
    except PlainError as error:
        raise RefusedError(f"{path}:{error}") from None
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON: {error}") from None
    known = ", ".join(f"`{kind}`" for kind in KINDS)
    if not isinstance(found, dict) or not set(found) <= set(KINDS):
        raise RefusedError(f"{path}: a file of mocks has the keys {known}, and no others")
    return {kind: _by_name(path, kind, found.get(kind) or {}) for kind in KINDS}

def _by_name(path, kind, found):
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: `{kind}` has a list of answers for each name")
    read = READ_AS.get(kind, _reply)
    return {
        name: [read(f"{path}: {kind}: {name}", reply) for reply in _listed(replies)] for name, replies in found.items()
    }

def _listed(replies):
    return replies if isinstance(replies, list) else [replies]

def _reply(place, found):
    if isinstance(found, dict) and set(found) == {"fail"}:
        return Reply("", " ".join(_reply(place, found["fail"]).text.split()) or "as the mock says")
    if isinstance(found, str):
        return Reply(found)
    if isinstance(found, (bool, int, float)):
        return Reply(json.dumps(found))
    raise RefusedError(f"{place}: expected a string, or {{fail: why}}")

def reply_to(mocks, kind, name, number):  # Return the answer to a call, by its number from 0; None where there is none.
    replies = mocks[kind].get(name, [])
    return replies[number] if number < len(replies) else None

