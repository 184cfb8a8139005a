# --- A question to the person at the terminal.
BINARY = ("pass", "fail")
MEANINGS = {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}

def words_of(unit):  # Return the words that the outcome of a unit may have.
    return tuple(unit.get("words", BINARY))

def word_of(unit, outcome):  # Return an outcome as people read it: of a question that is put as yes/no it is YES or NO.
    words = dict(zip(BINARY, unit.get("question", "pass/fail").split("/")))  # Python 3.9 has no `strict`
    return one_line(words.get(outcome, outcome)).upper()

def question(display, signals, text, choices):
    """Ask until one of the choices (`pass/fail`) is given; None means that nobody answers now.

    There is no default, and what was typed before the question is thrown away: it was not meant for it.
    """
    words = choices.split("/")
    accepted = [*words, *MEANINGS] if words in (["pass", "fail"], ["yes", "no"]) else words
    known = {word[:length]: word for word in accepted for length in (1, len(word))}
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    while True:
        typed = read_line(display, signals, f"{text} [{choices}] ")
        word = known.get(typed.strip().lower())
        if word:
            return MEANINGS.get(word, word)
        display.line(f"Please type {choices.replace('/', ' or ')}." if typed else "")
        if not typed:
            return None

def read_line(display, signals, prompt):  # Read what is typed; after Ctrl-Z the prompt is shown again.
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

