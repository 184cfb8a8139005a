# --- What a program and its caller have in common: exit codes, refusals, the table of the program.
EXIT_COMPLETE, EXIT_STOP, EXIT_REFUSED, EXIT_WAITING, EXIT_INTERRUPTED = 0, 1, 2, 75, 130

class RefusedError(Exception):
    pass

