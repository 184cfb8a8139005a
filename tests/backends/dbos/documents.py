"""Documents whose steps write files when they begin, and end when there is a file."""

from tests.support.runbooks import command, question

WAITS = (
    "# Long\n\n"
    + command("1. Before", "echo before >> steps")
    + command(
        "2. Waits",
        "trap 'echo ended >> signals' EXIT\ntrap 'exit 143' TERM\necho $$ >> pids; echo waits >> steps\n"
        "until test -e go; do sleep 0.02; done",
    )
    + command("3. After", "echo after >> steps")
)
"""Three commands; the second one waits for the file `go`."""

STUBBORN = WAITS.replace("trap 'exit 143' TERM", "trap '' TERM INT HUP").replace("sleep 0.02", "sleep 0.02 || true")
"""The same, but nothing except SIGKILL ends the command."""

ASKS = (
    "# Ask\n\n"
    + command("1. Before", "echo before >> steps")
    + question("2. Check", "Is it fine?", "YES: CONTINUE", 'NO: STOP "not fine"')
    + command("3. After", "echo after >> steps")
)
"""A question between two commands."""

RETRIES = (
    "# Retry\n\n"
    + command("1. Before", "echo before >> steps", "PASS: CONTINUE", "FAIL: RETRY 1")
    + command("2. After", "echo after >> steps")
)
"""Two commands; the first one has a counter."""

WORK = (
    "# Work\n\n"
    + command("1. Before", 'echo before >> "$RDC_RUN_ID.steps"', "PASS: CONTINUE", "FAIL: RETRY 1")
    + question("2. Check", "Is it fine?", "YES: CONTINUE", 'NO: STOP "not fine"')
    + command(
        "3. Ship", 'echo to the east; echo "no such host: \\e[31meast" >&2\nexit 4', "PASS: COMPLETE", "FAIL: CONTINUE"
    )
    + command(
        "4. Wait",
        'trap \'\' TERM INT HUP\nenv > "$RDC_RUN_ID.environment"\necho $$ >> "$RDC_RUN_ID.pids"\n'
        'until test -e "$RDC_RUN_ID.go"; do sleep 0.02 || true; done',
    )
    + command("5. After", 'echo after >> "$RDC_RUN_ID.steps"')
)
"""A run of any kind for the worker that all tests share; the files of a run have its name."""
