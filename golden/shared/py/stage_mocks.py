# --- Mock runs of specifications: executors and tools answer from a file, and no process is called (`--mock`).
class MockedStages(Stages):
    def is_mocked(self, kind, name):
        return kind == "executors" or name in self.mocks[kind]
    def converse(self, node, calls):
        if node["stage"] == "context":
            return [Answered(b"null", "")]
        tool, finished = node["subject"], self.session.state.finished
        made = [one["found"]["tool"] for one in finished if "tool" in one.get("found", {})]
        number = sum(one["name"] == tool and one["status"] != "skipped" for one in made)
        reply = self._next("tools", tool, number)
        self.session.heed()
        self._show(reply.text.rstrip("\n"))
        self.keep(PROMPTS, calls[0][0], calls[0][3])
        return [Answered(b"" if reply.trouble else reply.text.encode("utf-8", "replace"), reply.trouble)]
    def execute(self, name, _node, _command, request, folder):
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
            with open(os.path.join(folder, key), "w", encoding="utf-8") as file:
                json.dump(play.handed[key], file)
        return int(play.code)
    def _next(self, kind, name, number):  # a Reply or a Play
        found = reply_to(self.mocks, kind, name, number)
        if found is None:
            self.session.rest()
            node, where = self.session.state.node, one_line(f"{kind}: {name}")
            raise RefusedError(f"{node}: {self.session.options.mock} has no answer number {number + 1} under {where}")
        return found

class MocksOfStages(Extension):
    options = (("run resume open step", "--mock", "FILE", "a mock run: executors and tools answer from this file"),)
    @staticmethod
    def suits(program):
        return "contract" in program
    def before_run(self, _state):
        session, path = self.session, self.session.options.mock
        if path and session.options.command in ("run", "resume"):
            mocks = mocks_in(path, session.host.parse(path, read_text(path)))
            session.kinds["stage"] = type("MockedStages", (MockedStages, session.kinds["stage"]), {"mocks": mocks})

EXTENSIONS = (
    Signing, Shell, Asks, Stepping, Shared, Inputs, TaskInput, Secrets, Variables, Slots, Outputs, Limit,
    Pauses, Replies, Asked, OfGates, Moving, Conversations, Placeholders, Specification, Files, RunReports,
    Called, MocksOfStages, ByHand, Logs, Notices, Several, History,
)  # in the order in which they take part


if __name__ == "__main__":
    sys.exit(main(built(specification, EXTENSIONS), EXTENSIONS, host=Host(edition="contract f496a97c80c4")))
