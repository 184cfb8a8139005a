# --- The records of a run as texts: JSON with indentation and sorted keys, of which only what is new is written out.
class RecordTexts:
    def __init__(self, mask):
        self._mask = mask
        self._known = {}  # the texts of what the records have now, by the same on one line
        self._before = {}
    def of(self, files):
        self._before, self._known = self._known, {}
        return {name: self._whole(value) + "\n" for name, value in files.items()}
    def _whole(self, value):  # any JSON value
        if isinstance(value, list):
            return _around("[", map(self._item, value), "]")
        pairs = ((key, value[key]) for key in sorted(value))
        parts = (
            f"{json.dumps(key)}: {(self._whole if isinstance(part, list) else self._item)(part)}" for key, part in pairs
        )
        return _around("{", parts, "}")
    def _item(self, value):
        key = json.dumps(value, sort_keys=True)
        text = (
            self._known.get(key)
            or self._before.get(key)
            or json.dumps(in_masked(self._mask, value), indent=2, sort_keys=True)
        )
        self._known[key] = text
        return text

def _around(begin, parts, end):
    inner = ",\n".join(parts).replace("\n", "\n  ")
    return f"{begin}\n  {inner}\n{end}" if inner else begin + end

def in_masked(mask, value):  # any JSON value
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [in_masked(mask, item) for item in value]
    return {key: in_masked(mask, item) for key, item in value.items()} if isinstance(value, dict) else value

