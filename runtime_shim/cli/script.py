"""A run without a journal: it goes from the first step to an end and keeps nothing."""

import os
import select
import signal
import socket
import sys
import termios
from contextlib import suppress

from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_INTERRUPTED, EXIT_REFUSED, EXIT_STOP, Table, UsageError
from runtime_shim.engine.texts import MEANINGS, clean, one_line, word_of
from runtime_shim.engine.walk import advance, filled, follow, variables_of
from runtime_shim.io.answers import LARGEST, read_answers, read_text, take_answer

HELP = "It keeps no state. To resume runs, compile without `-O runtime=script`."
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PATIENCE = 10  # seconds from a signal to SIGKILL; a key has no limit
LISTENER = "trap exit INT TERM HUP QUIT; read -r _"  # ends if a signal reaches its group
BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them


def say(text: str, end: str = "\n") -> None:
    """Write a line to the operator. A log that no one reads does not stop a run."""
    with suppress(OSError, ValueError):
        print(text, end=end, file=sys.stderr, flush=True)


class Script:
    """One run, kept only in memory."""

    def __init__(self, program: Table, answers: str) -> None:
        self.program, self.nodes = program, program["nodes"]
        self.answers = read_answers(answers, read_text(answers, LARGEST), self.nodes) if answers else []
        self.registers, self.child, self.group, self.is_stopped = dict(program["registers"]), 0, "", False
        self.joins = os.getpgrp() if any(map(os.isatty, (0, 1, 2))) else 0  # commands' group, 0: new
        self.run_id = f"script-{os.urandom(4).hex()}"

    def stop(self, number: int, _frame: object) -> None:
        """Start no other step, and forward the signal unless it already reached the command."""
        self.is_stopped = True
        if not self.child:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_IGN)  # it may come back
        is_known = self.joins and select.select([self.heard], [], [], 0.1)[0]
        if not (is_known and number in (signal.SIGINT, signal.SIGQUIT)):
            signal.alarm(PATIENCE)
        with suppress(ProcessLookupError):
            if not is_known:
                (os.kill if self.joins else os.killpg)(0 if self.joins == os.getpid() else self.child, number)

    def end(self, _number: int, _frame: object) -> None:
        """End a command that takes too long to clean up."""
        with suppress(ProcessLookupError):
            (os.kill if self.joins else os.killpg)(self.child, signal.SIGKILL)

    def listen(self) -> None:
        """Start a process that closes its socket when a signal reaches its group."""
        self.heard, theirs = socket.socketpair()
        with theirs:
            given, words = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0)], ["sh", "-c", LISTENER]
            self.listener = os.posix_spawn("/bin/sh", words, {}, file_actions=given, setsigmask=())

    def run(self) -> int:
        """Run step after step and return the exit code."""
        move = follow(self.program, {"go": self.program["entry"]}, self.registers)
        while True:
            self.registers.update(move.changed)
            name, node = move.node, self.nodes[move.node]
            if self.is_stopped and node["task"] != "end":
                raise KeyboardInterrupt
            if node["task"] == "end":
                say(one_line(f"rdc: {node['result'].upper()} {self.text(node, 'message')}"))
                return EXIT_COMPLETE if node["result"] == "complete" else EXIT_STOP
            found = variables_of(name, node, self.registers)
            self.show(name, node, found["RDC_ATTEMPT"])
            outcome = self.ask(name, node) if node["task"] == "ask" else self.command(node, found)
            move = advance(self.program, name, self.registers, outcome)
            say(f"    {word_of(node, outcome)}  {one_line(move.says)}".rstrip())

    def text(self, node: Table, key: str) -> str:
        """Return a text of a step with its placeholders replaced."""
        return filled(node, node.get(key, ""), self.registers)

    def show(self, name: str, node: Table, attempt: int) -> None:
        """Show a step, after its group if that is a new one."""
        before, self.group = self.group, node.get("group", "")
        if self.group not in ("", before):
            about = self.program["groups"][self.group]
            say(one_line(f"{self.group} {self.text(about, 'title')}"))
            self.explain(about)
        say(one_line(f"{name} {self.text(node, 'title')}" + f" - attempt {attempt}" * (attempt > 1)))
        if attempt == 1 or node["task"] == "ask":
            self.explain(node)

    def explain(self, about: Table) -> None:
        """Show the prompt of a step or group, and its block."""
        for line in clean(f"{self.text(about, 'prompt')}\n{self.text(about, 'block')}").strip("\n").splitlines():
            say(f"    {line}".rstrip())

    def command(self, node: Table, found: Table) -> str:
        """Run a step's command. Exit code 0 means pass, anything else fail."""
        own = {**os.environ, "RDC_RUN_ID": self.run_id, **{key: str(value) for key, value in found.items()}}
        shell, words = node["shell"], [node["shell"], "-c", self.text(node, "command")]
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        try:
            if self.joins:
                self.listen()
            self.child = os.posix_spawnp(shell, words, own, setpgroup=self.joins, setsigmask=(), setsigdef=BY_PYTHON)
        except FileNotFoundError:
            say(f"    {shell} was not found")
            return "fail"
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        (group, status), self.child = os.waitpid(self.child, 0), 0
        signal.alarm(0)
        if self.joins:
            self.heard.close()
            os.waitpid(self.listener, 0)
        if self.is_stopped:
            with suppress(ProcessLookupError):
                os.killpg(group, 0 if self.joins else signal.SIGTERM)  # background jobs ignore SIGINT
            if status:
                raise KeyboardInterrupt
        return "fail" if status else "pass"

    def ask(self, name: str, node: Table) -> str:
        """Return the answer to a question, from the file of answers or the terminal."""
        typed = getattr(take_answer(self.answers, name), "reply", " ")
        known = {word[:length]: MEANINGS[word] for word in MEANINGS for length in (1, len(word))}
        while typed.strip().lower() not in known:
            if not (typed and os.isatty(0)):
                raise UsageError(f"{name} needs an answer; run at a terminal or use --answers FILE")
            termios.tcflush(0, termios.TCIFLUSH)
            say(f"    [{node['question']}] ", end="")
            typed = os.read(0, 4096).decode(errors="replace")
        return known[typed.strip().lower()]


def main(program: Table) -> int:
    """Run the command line and return the exit code."""
    (option, path), usage = (*sys.argv[1:], "", "")[:2], f"usage: {sys.argv[0]} [--answers FILE]"
    if option in ("-h", "--help"):
        print(f"{usage}\n\n{clean(program['title'])}\n\n{HELP}")
        return EXIT_COMPLETE
    try:
        if sys.argv[1:] not in ([], ["--answers", path]):
            raise UsageError(usage)
        script = Script(program, path)
        for number in (one for one in STOPS if signal.getsignal(one) != signal.SIG_IGN):  # keep nohup's
            signal.signal(number, script.stop)
        signal.signal(signal.SIGALRM, script.end)
        return script.run()
    except KeyboardInterrupt:
        say("rdc: INTERRUPTED")
        return EXIT_INTERRUPTED
    except (UsageError, OSError) as error:
        say(f"rdc: error: {one_line(str(error))}")
        return EXIT_REFUSED
