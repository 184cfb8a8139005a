# --- Mock runs of specifications: executors and tools answer from a file, and no process is called (`--mock`).
class MockedStages(Stages):  # Does what the file says in place of what would be called.
    def is_mocked(self, kind, name):
        """Tell whether the file answers: for every executor, and for the tools that it knows."""
        return kind == "executors" or name in self.mocks[kind]
    def execute(self, name, _node, _command, request, folder):  # Write and hand over what the executor would.
        done = [one for one in self.session.state.finished if one["node"] == name]
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
            node, where = self.session.state.node, one_line(f"{kind}: {name}")
            raise RefusedError(f"{node}: {self.session.options.mock} has no answer number {number + 1} under {where}")
        return found

def mock_stages(session, _state):  # Have the file answer what executors and tools would.
    path = getattr(session.options, "mock", None)
    if path and session.options.command in ("run", "resume"):
        mocks = mocks_in(path, read_text(path))
        PERFORMERS["stage"] = type("MockedStages", (MockedStages, PERFORMERS["stage"]), {"mocks": mocks})

TAKES.append(mock_stages)
OPTIONS.append(("run resume", "--mock", "FILE", "a mock run: executors and tools answer from this file"))

