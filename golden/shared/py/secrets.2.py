# --- Secrets: environment variables that must be set, and whose values are kept and sent nowhere (I26).
MASK = "***"
MASKED = (
    "title",
    "message",
    "how",
    "answer",
    "by",
    "note",
    "registers",
    "changed",
    "found",
)  # of a record: what holds texts
DOING = ("run", "resume")  # the subcommands that may call something

class Secrets:  # The values of the secrets that are set, once they are known.
    def __init__(self):
        self._pattern = None
    def learn(self, session, _state):  # Take the values.
        names = list(session.program.get("secrets", ()))
        names += os.environ.get("RDC_SECRETS", "").split()
        self._pattern = hidden_parts(names)
    def mask(self, text):  # Return a text without them.
        return self._pattern.sub(MASK, text) if self._pattern else text
    def masked(self, _session, record):  # Return a record or an event without them.
        return {key: _in(value, key == "found") if key in MASKED else value for key, value in record.items()}

def _in(value, has_names=False):
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [_in(inner, has_names) for inner in value]
    if not hasattr(value, "items"):
        return value
    return {masked(name) if has_names else name: _in(inner, has_names) for name, inner in value.items()}

def refuse_missing(program, options):
    """Refuse to call anything where secrets are missing or cannot be hidden, with all their names."""
    if options.command not in DOING or options.dry_run:
        return {}
    names = list(program.get("secrets", ()))
    again = f"then {options.command} again"
    if missing := [name for name in names if not secret_value(name)]:
        raise RefusedError(f"secrets are missing: {', '.join(missing)}; set these environment variables, {again}")
    names += os.environ.get("RDC_SECRETS", "").split()
    if short := unhidden(names):
        told = f"secrets cannot be hidden: {', '.join(short)}"
        raise RefusedError(f"{told}; set environment variables of at least four characters, {again}")
    return {}

def check_secrets(session):  # Refuse to go on without secrets.
    refuse_missing(session.program, session.options)

SECRETS = Secrets()
BEGINNINGS.append(refuse_missing)
TAKES.append(SECRETS.learn)
OPENS.append(check_secrets)
RECORDS.append(SECRETS.masked)
MASKS.append(SECRETS.mask)

