"""Documents whose steps write files when they begin, and end when there is a file."""

from __future__ import annotations

WAITS = """\
# Long

## 1. Before

```bash
echo before >> steps
```

## 2. Waits

```bash
trap 'echo ended >> signals' EXIT
trap 'exit 143' TERM
echo $$ >> pids
echo waits >> steps
until test -e go; do sleep 0.02; done
```

## 3. After

```bash
echo after >> steps
```
"""
"""Three commands; the second one waits for the file `go`."""

STUBBORN = WAITS.replace("trap 'exit 143' TERM", "trap '' TERM INT HUP").replace("sleep 0.02", "sleep 0.02 || true")
"""The same, but nothing except SIGKILL ends the command."""

ASKS = """\
# Ask

## 1. Before

```bash
echo before >> steps
```

## 2. Check

Is it fine?

- YES: CONTINUE
- NO: STOP "not fine"

## 3. After

```bash
echo after >> steps
```
"""
"""A question between two commands."""

RETRIES = """\
# Retry

## 1. Before

```bash
echo before >> steps
```

- PASS: CONTINUE
- FAIL: RETRY 1

## 2. After

```bash
echo after >> steps
```
"""
"""Two commands; the first one has a counter."""

WORK = """\
# Work

## 1. Before

```bash
echo before >> "$RDC_RUN_ID.steps"
```

- PASS: CONTINUE
- FAIL: RETRY 1

## 2. Check

Is it fine?

- YES: CONTINUE
- NO: STOP "not fine"

## 3. Ship

```bash
echo to the east; echo "no such host: \\e[31meast" >&2
exit 4
```

- PASS: COMPLETE
- FAIL: CONTINUE

## 4. Wait

```bash
trap '' TERM INT HUP
env > "$RDC_RUN_ID.environment"
echo $$ >> "$RDC_RUN_ID.pids"
until test -e "$RDC_RUN_ID.go"; do sleep 0.02 || true; done
```

## 5. After

```bash
echo after >> "$RDC_RUN_ID.steps"
```
"""
"""A run of any kind for the worker that all tests share; the files of a run have its name."""
