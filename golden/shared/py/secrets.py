# --- Secrets: environment variables that must be set, and whose values are kept and sent nowhere (I26).
MASK = "***"
# What holds texts, of a record.
MASKED = ("title", "message", "how", "answer", "by", "note", "registers", "changed", "found")
DOING = ("run", "resume")  # the subcommands that may call something
AROUND_SECRETS = " \t\n\v\f\r"
SHORTEST = 4  # characters; what is shorter stands in too many words
CODES = re.compile(r"\\u[0-9a-f]{4}")
HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}  # as writers of JSON for pages escape them

def secret_value(name):
    return os.environ.get(name, "").strip(AROUND_SECRETS)

def unhidden(names):
    return [name for name in names if 0 < len(secret_value(name)) < SHORTEST]

def hidden_parts(names):
    found = set()
    for value in map(secret_value, names):
        for part in {value, *(line.strip(AROUND_SECRETS) for line in value.split("\n"))}:
            found.update(_written(part) if len(part) >= SHORTEST else ())
    parts = map(re.escape, sorted(found, key=len, reverse=True))
    return re.compile("|".join(parts)) if found else None

def _written(part):
    once = {part, *_escaped(part)}
    once |= {each.replace("/", "\\/") for each in once}
    once |= {each.translate(HTML) for each in once}
    once |= {CODES.sub(lambda found: "\\u" + found[0][2:].upper(), each) for each in once}
    return once.union(*map(_escaped, once))

def _escaped(part):
    return {json.dumps(part, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}

class Secrets(Extension):
    _pattern = None
    @staticmethod
    def suits(program):
        return "secrets" in program or "contract" in program
    def _names(self):
        return [*self.session.program.get("secrets", ()), *os.environ.get("RDC_SECRETS", "").split()]
    def registers(self):
        self.open()
        return {}
    def before_run(self, _state):
        self._pattern = hidden_parts(self._names())
    def open(self):
        options = self.session.options
        if options.command not in DOING or options.dry_run:
            return
        again = f"then {options.command} again"
        if missing := [name for name in self.session.program.get("secrets", ()) if not secret_value(name)]:
            raise RefusedError(f"secrets are missing: {', '.join(missing)}; set these environment variables, {again}")
        if short := unhidden(self._names()):
            told = f"secrets cannot be hidden: {', '.join(short)}"
            raise RefusedError(f"{told}; set environment variables of at least four characters, {again}")
    def mask(self, text):
        return self._pattern.sub(MASK, text) if self._pattern else text
    def record(self, record):
        return {key: self._in(value, key == "found") if key in MASKED else value for key, value in record.items()}
    def _in(self, value, has_names=False):  # texts, by name or in lists
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, list):
            return [self._in(inner, has_names) for inner in value]
        if not hasattr(value, "items"):
            return value
        return {self.mask(name) if has_names else name: self._in(inner, has_names) for name, inner in value.items()}

