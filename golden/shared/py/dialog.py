# --- A question to the person at the terminal.
BINARY = ("pass", "fail")
MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}

def words_of(node):
    return tuple(node.get("words", BINARY))

def word_of(node, outcome):
    if node.get("question") == "yes/no":
        outcome = {"pass": "yes", "fail": "no"}.get(outcome, outcome)
    return one_line(outcome).upper()

def question(display, signals, text, choices):
    known = {word[:length]: word for word in choices.split("/") for length in (1, len(word))}
    if choices in ("pass/fail", "yes/no"):
        known = {word[:length]: MEANINGS[word] for word in MEANINGS for length in (1, len(word))}
    with suppress(OSError, ValueError, termios.error):  # what was typed before the question was not meant for it
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    prompt, word, typed = f"{text} [{choices}] ", None, " "
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: display.line(prompt, end=""))  # after Ctrl-Z
    try:
        while typed and not word:
            display.line(prompt, end="")
            with signals.listening():
                typed = os.read(sys.stdin.fileno(), 4096).decode(errors="replace")
            word = known.get(typed.strip().lower())
            if not word:
                display.line(f"Please type {choices.replace('/', ' or ')}." if typed else "")
    except Interrupted:  # the key has been echoed where the answer was due
        display.line()
        raise
    finally:
        signal.signal(signal.SIGCONT, before)
    return word

