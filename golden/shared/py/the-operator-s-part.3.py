# --- The operator's part
# It is Python like the rest, as a text: Python compiles it only for a call that asks for it, and others start sooner.
LATE.append(lambda: exec(OPERATORS, globals()))
OPERATORS = r'''
import codecs, threading
from contextlib import suppress
from urllib.parse import quote

