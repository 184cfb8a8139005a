# --- Placeholders of a specification (B3): `--var` gives a value as `--input` does; paths stay inside the project.
class Placeholders(Extension):
    options = (("run", "--var", "NAME=VALUE...", "the same as --input"),)
    @staticmethod
    def suits(program):
        return "contract" in program and bool(program.get("inputs"))
    def prepare(self):
        options = self.session.options
        options.input = [*options.input, *options.var]
    def open(self):
        session = self.session
        nodes = session.program["nodes"].values() if session.options.command == "run" else ()
        for node in nodes:
            for path in paths_of(session, node):
                if os.path.isabs(path) or os.pardir in path.split(os.sep):
                    where = f"{one_line(path)} of step {node['step']}"
                    raise RefusedError(
                        f"the path {where} is not inside the project: give its placeholders other values"
                    )

