# --- Commands: run by a shell, and what is left to decide where one was interrupted half done.
def run_command(processes, shell, command, environment, seconds=0):
    try:
        group = processes.spawn(shell, [shell.encode(), b"-c", command.encode()], environment)
    except FileNotFoundError:
        return Done("fail", f"there is no {shell} here")
    (code,) = processes.watch([group], seconds)
    if code is None:
        return Done("fail", f"timeout after {duration(seconds)}")
    return Done("pass" if code == 0 else "fail", in_words(code))

class Calling(Performer):
    noun = "command"
    def __init__(self, session):
        super().__init__(session)
        self.common = {**os.environb, b"RDC_RUN_ID": session.state.begin["run"].encode()}
        self.processes = Processes(session.signals, session.is_interactive, self._began)
    def _began(self, group):
        with suppress(RefusedError):  # a full disk does not end a command; its outcome reports it
            self.session.record({"kind": "process", "pid": group, "since": started_at(group)}, sync=False)
    def environment(self, node, **more):
        now = self.session.state.registers
        found = {**variables_of(self.session.state.node, node, now), **more}
        for others in self.session.each("variables", node, now):
            found = {**others, **found}
        return {**self.common, **{key.encode(): str(value).encode() for key, value in found.items()}}
    def not_begun(self, name, error):
        self.session.rest()
        size = sum(len(key) + len(value) + 2 for key, value in self.common.items())
        hint = f"make room for it (the environment has {size:,} bytes), then: {self.session.call('resume')}"
        return RefusedError(hint, f"{self.session.label(name)} was not started: {error.strerror}")
    def recover(self, name):
        session, options, label = self.session, self.session.options, self.session.label(name)
        node, running = session.program["nodes"][name], session.state.left_behind()
        if running:  # then nothing can be decided, unless the options say that it is to be ended
            still = f"{label}: its {self.noun} still runs (pid {', '.join(str(one['pid']) for one in running)})"
            if not options.rerun_interrupted:
                known = (*hints(session, "interrupted"), f"{still}; wait until it ends, or stop it")
                raise RefusedError(*known) if options.assume else Waiting(*known)
            session.display.line(f"{still}; ending it")
            end_groups(running)
        if options.rerun_interrupted or options.assume:  # of which there is only one
            return self.assumed(name, options.assume) if options.assume else None
        said = f"{label} was interrupted ({one_line(node['at'])}); rdc cannot tell whether it finished."
        if session.is_interactive and "words" not in node:
            session.display.line(said)
            choice = session.ask("Did it pass, did it fail, or run it again?", "pass/fail/again")
            if choice is not None:
                return None if choice == "again" else Done(choice, "as the operator says")
        raise Waiting(said, *hints(session, "interrupted"))
    def assumed(self, name, word):
        if word not in words_of(self.session.program["nodes"][name]):
            raise RefusedError(f"{name} cannot have the outcome {word}")
        return Done(word, "as assumed")

class Commands(Calling):
    keys = ("command",)
    def perform(self, name, node):
        display = self.session.display
        if display.is_terminal and attempt_of(node, self.session.state.registers) == 1:  # a log has the document for it
            display.dim(self.session.texts(node, "prompt"))
        self.session.heed()
        command, environment = self.session.filled(node, "command"), self.environment(node)
        try:
            return run_command(self.processes, node["shell"], command, environment, node.get("timeout", 0))
        except OSError as error:
            raise self.not_begun(name, error) from None

