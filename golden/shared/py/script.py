# --- A run without a journal: it begins at the first step, goes on to the end, and keeps nothing (rule 2).
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

def say(text, end='\n'):
    with suppress(OSError, ValueError):
        print(text, end=end, file=sys.stderr, flush=True)

class Script:
    def __init__(self, program, answers):
        self.program, self.nodes = program, program["nodes"]
        self.answers = checked_answers(answers, read_lines(read_text(answers, LARGEST), self.nodes) if answers else ())
        self.registers, self.child, self.is_stopped, self.group = dict(program["registers"]), 0, False, ""
        self.is_interactive, self.run_id = sys.stdin.isatty(), f"script-{os.urandom(4).hex()}"
    def stop(self, number, _frame):
        if not self.child:
            raise KeyboardInterrupt
        self.is_stopped = True
        with suppress(ProcessLookupError):
            (os.kill if self.is_interactive else os.killpg)(self.child, number)
    def run(self):
        move = follow(self.program, {"go": self.program["entry"]}, self.registers)
        while True:
            self.registers.update(move.changed)
            name, node = move.node, self.nodes[move.node]
            if node["task"] == "end":
                say(one_line(f"rdc: {node['result'].upper()} {self.text(node, 'message')}"))
                return EXIT_COMPLETE if node["result"] == "complete" else EXIT_STOP
            self.show(name, node)
            outcome = self.ask(name, node) if node["task"] == "ask" else self.command(name, node)
            move = advance(self.program, name, self.registers, outcome)
            say(f"    {word_of(node, outcome)}  {one_line(move.says)}".rstrip())
    def text(self, node, key):
        return filled(node, node.get(key, ""), self.registers)
    def show(self, name, node):
        before, self.group = self.group, node.get("group", "")
        if self.group not in ("", before):
            say(one_line(f"{self.group} {self.text(self.program['groups'][self.group], 'title')}"))
        numbers, attempt = instances_of(node, self.registers).values(), attempt_of(node, self.registers)
        details = f" instance {'.'.join(map(str, numbers))}" * bool(numbers) + f" attempt {attempt}" * (attempt > 1)
        say(one_line(f"{name} {self.text(node, 'title')} {details}"))
        for key in ("prompt", "block") if node["task"] == "ask" else ():
            for line in clean(self.text(node, key)).strip("\n").splitlines():
                say(f"    {line}".rstrip())
    def command(self, name, node):
        title = self.text(node, "title").replace("\0", "\ufffd")[:16_384]
        own = {"RDC_RUN_ID": self.run_id, "RDC_STEP": name, "RDC_TITLE": title}
        own.update(instances_of(node, self.registers), RDC_ATTEMPT=attempt_of(node, self.registers))
        environment = {**os.environ, **{key: str(value) for key, value in own.items()}}
        words = [node["shell"], "-c", self.text(node, "command")]
        group = {} if self.is_interactive else {"setpgroup": 0}
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        try:
            self.child = os.posix_spawnp(words[0], words, environment, setsigmask=(), **group)
        except OSError as error:
            raise RefusedError(f"{name}: cannot start {words[0]}: {error.strerror}") from None
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        self.child, status = 0, os.waitpid(self.child, 0)[1]
        if self.is_stopped:
            raise KeyboardInterrupt
        return "fail" if status else "pass"
    def ask(self, name, node):
        typed = getattr(take_answer(self.answers, name), "reply", " ")
        known = {word[:length]: MEANINGS[word] for word in MEANINGS for length in (1, len(word))}
        while typed.strip().lower() not in known:
            say(f"    [{node['question']}] ", end="")
            typed = sys.stdin.readline() if self.is_interactive else ""
            if not typed:
                raise RefusedError(f"{name} has no answer: start at a terminal or give --answers FILE")
        return known[typed.strip().lower()]

def main(program, _extensions, argv=None):
    words, usage = sys.argv[1:] if argv is None else argv, f"usage: {sys.argv[0]} [--answers FILE]"
    if {"-h", "--help"} & {*words}:
        print(f"{usage}\n\n{clean(program['title'])}\n\nRuns to the end, keeps nothing.")
        return EXIT_COMPLETE
    try:
        if words and (words[0] != "--answers" or len(words) != 2):
            raise RefusedError(usage)
        script = Script(program, words[1] if words else "")
        for number in STOPS:
            signal.signal(number, script.stop)
        return script.run()
    except KeyboardInterrupt:
        say("rdc: INTERRUPTED")
        return EXIT_INTERRUPTED
    except (RefusedError, OSError) as error:
        reason = "; ".join(error.args) if isinstance(error, RefusedError) else error
        say(f"rdc: error: {one_line(str(reason))}")
        return EXIT_REFUSED

EXTENSIONS = ()


if __name__ == "__main__":
    sys.exit(main(built(runbook, EXTENSIONS), EXTENSIONS))
