# --- Mock runs of specifications: executors and tools answer from a file, without processes (`--mock`).
class MockedStages(Stages):
    def is_mocked(self, kind, name):
        return kind == "executors" or name in self.mocks[kind]
    def converse(self, node, calls):
        if node["stage"] == "context":
            return [Answered(b"null", "")]
        (name, _, _, given), tool, finished = calls[0], node["subject"], self.session.state.finished
        made = [one["found"]["tool"] for one in finished if "tool" in one.get("found", {})]
        number = sum(one["name"] == tool and one["status"] != "skipped" for one in made)
        return [answered_by(reply_due(self.session, self.mocks, "tools", tool, number), self, name, given)]
    def execute(self, name, _node, _command, request, folder):
        done = [one for one in self.session.state.finished if one["node"] == name]
        number = sum("exit_code" in one.get("found", {}) for one in done)
        play = reply_due(self.session, self.mocks, "executors", name, number)
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
        return play.code

class MocksOfStages(MockRuns):
    mocked = {"stage": MockedStages}
    options = (("run resume open step", "--mock", "FILE", "a mock run: executors and tools answer from this file"),)

EXTENSIONS = (
    Signing, Tasks, Shared, Inputs, Secrets, Values, Limits, Expiry, Replies, OfGates, KeptPrompts,
    Placeholders, Specification, RecordFiles, MocksOfStages, Notices, Several,
)  # in the order in which they run


if __name__ == "__main__":
    sys.exit(main(built(specification, EXTENSIONS), EXTENSIONS, host=Host(edition="contract 781870be1837")))
