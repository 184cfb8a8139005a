# --- Rehearsals of specifications: executors and tools answer from a file, and no process is called (`--mock`).
PLAYED = {"exit", "write", "evidence", "drr"}

# What an executor does in a rehearsal: its exit code, the files that it writes, what it hands over.
Play = collections.namedtuple("Play", "code files handed")

def play_in(place, found):  # Read what an executor does.
    if found in ("pass", "fail"):
        return Play(int(found == "fail"), {}, {})
    if not isinstance(found, dict) or not set(found) <= PLAYED:
        raise RefusedError(f"{place}: expected pass, fail, or some of {', '.join(sorted(PLAYED))}")
    code, files = str(found.get("exit", 0)), found.get("write") or {}
    if not code.isdecimal() or int(code) > 255:
        raise RefusedError(f"{place}: exit: expected a number from 0 to 255")
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise RefusedError(f"{place}: write: expected a text for each path")
    handed = {key: _numbered(found[name]) for key, name in (("evidence", "evidence"), ("drrs", "drr")) if name in found}
    return Play(int(code), files, handed)

def _numbered(found):
    """Return what is handed over with its numbers: in files of mocks that are YAML every value is a text."""
    if isinstance(found, list):
        return [_numbered(one) for one in found]
    if not isinstance(found, dict):
        return found
    is_number = {key: NUMBER.fullmatch(str(found.get(key))) for key in ("reliability", "wlnk")}
    return {key: float(value) if is_number.get(key) else value for key, value in found.items()}

class RehearsedStages(Stages):  # Does what the file says in place of what would be called.
    def is_mocked(self, kind, name):
        """Tell whether the file answers: for every executor, and for the tools that it knows."""
        return kind == "executors" or name in self.mocks[kind]
    def execute(self, name, _unit, _command, request, folder):  # Write and hand over what the executor would.
        done = [one for one in self.session.state.finished if one["unit"] == name]
        play = self._next("executors", name, sum("exit_code" in one.get("found", {}) for one in done))
        self.keep(PROMPTS, name, request)
        for path, text in play.files.items():
            try:
                write_inside(self.root, path, text.encode("utf-8", "replace"))
            except UnsafeError as error:
                self.session.rest()
                raise RefusedError(f"{self.session.options.mock}: executors: {one_line(name)}: {error}") from None
        for key in HANDED.keys() & play.handed.keys():
            Path(folder, key).write_text(json.dumps(play.handed[key]), encoding="utf-8")
        return int(play.code)
    def _next(self, kind, name, number):
        found = reply_to(self.mocks, kind, name, number)
        if found is None:
            self.session.rest()
            unit, where = self.session.state.node, one_line(f"{kind}: {name}")
            raise RefusedError(f"{unit}: {self.session.options.mock} has no answer number {number + 1} under {where}")
        return found

def rehearse_stages(session, _state):  # Have the file answer what executors and tools would.
    path = getattr(session.options, "mock", None)
    if path and session.options.command in ("run", "resume"):
        mocks = mocks_in(path, read_text(path))
        PERFORMERS["stage"] = type("RehearsedStages", (RehearsedStages, PERFORMERS["stage"]), {"mocks": mocks})

READ_AS["executors"] = play_in
TAKES.append(rehearse_stages)
OPTIONS.append(("run resume", "--mock", "FILE", "a rehearsal: executors and tools answer from this file"))

