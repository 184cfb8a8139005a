# --- A question to the person at the terminal.
BINARY = ("pass", "fail")
MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}

def words_of(unit):  # Return the words that the outcome of a unit may have.
    return tuple(unit.get("words", BINARY))

def word_of(unit, outcome):  # Return an outcome as people read it: of a question that is put as yes/no it is YES or NO.
    good, bad = unit.get("question", "pass/fail").split("/")
    return one_line({"pass": good, "fail": bad}.get(outcome, outcome)).upper()

def question(display, signals, text, choices):
    """Ask until one of the choices (`pass/fail`) is given; None means that nobody answers now.

    There is no default: an empty line is no answer. What was typed before the question is thrown
    away, since it was not meant for it.
    """
    import termios

    words = choices.split("/")
    accepted = [*words, *MEANINGS] if len(words) == 2 and words[0] in MEANINGS else words
    known = {word[:length]: word for word in accepted for length in (1, len(word))}
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    while True:
        typed = read_line(display, signals, f"{text} [{choices}] ")
        if not typed:
            display.line()
            return None
        word = known.get(typed.strip().lower())
        if word is not None:
            return MEANINGS.get(word, word)
        display.line(f"Please type {choices.replace('/', ' or ')}.")

def read_line(display, signals, prompt):
    """Read what is typed; the prompt is shown again when the run goes on after Ctrl-Z, however soon that is."""
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: display.line(prompt, end=""))
    try:
        with signals.listening():
            display.line(prompt, end="")
            return sys.stdin.readline()
    except Interrupted:  # the key has been echoed where the answer was due
        display.line()
        raise
    finally:
        signal.signal(signal.SIGCONT, before)

