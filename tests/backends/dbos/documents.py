"""Documents whose steps tell files when they began, and end when a file says so."""

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
