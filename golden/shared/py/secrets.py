# --- Secrets: environment variables that must be set; what the run keeps and shows has *** for their values.
# What holds texts, of a record.
MASKED = ("title", "message", "how", "answer", "by", "note", "registers", "changed")
AROUND_SECRETS = " \t\n\v\f\r"  # commands print a secret without that too
SHORTEST = 4  # characters; what is shorter stands in too many words
CODES = r"\\u[0-9a-f]{4}"
HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}  # as writers of JSON for pages escape them
def hidden_parts(values):
    parts = [part.strip(AROUND_SECRETS) for value in values for part in (value, *value.split("\n"))]
    found = {each for part in parts if len(part) >= SHORTEST for each in _written(part)}
    return re.compile("|".join(map(re.escape, sorted(found, key=len, reverse=True)))) if found else None
def _written(part):
    once = {part, *_escaped(part)}
    once |= {each.replace("/", "\\/") for each in once}
    once |= {each.translate(HTML) for each in once}
    once |= {re.sub(CODES, lambda found: "\\u" + found[0][2:].upper(), each) for each in once}
    return once.union(*map(_escaped, once))
def _escaped(part):
    return {json.dumps(part, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}

class Secrets(Extension):
    _pattern = None
    def before_run(self, _state):
        options, needed = self.session.options, self.session.program.get("secrets", [])
        names = [*needed, *os.environ.get("RDC_SECRETS", "").split()]
        values = {name: os.environ.get(name, "").strip(AROUND_SECRETS) for name in names}
        self._pattern = hidden_parts(values.values())
        if options.command not in ("run", "resume") or options.dry_run:  # nothing is called
            return
        missing = [name for name in needed if not values[name]]
        short = [name for name, value in values.items() if 0 < len(value) < SHORTEST]
        for wrong, how in ((missing, "are missing"), (short, "cannot be hidden")):
            if wrong:
                remedy = "set these environment variables to at least four characters"
                raise RefusedError(f"secrets {how}: {', '.join(wrong)}; {remedy}, then {options.command} again")
    def mask(self, text):
        return self._pattern.sub("***", text) if self._pattern else text
    def record(self, record):
        return {key: self._in(value) if key in MASKED else value for key, value in record.items()}
    def _in(self, value):  # a text, or several by name
        if hasattr(value, "items"):
            return {name: self._in(inner) for name, inner in value.items()}
        return self.mask(value) if isinstance(value, str) else value

