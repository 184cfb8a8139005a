# --- Lines -----------------------------------------------------------------------------------------------------------

_Line = collections.namedtuple("_Line", "number text is_heading is_sure")

class _Reader:
    def __init__(self):
        self._fence, self._closing = "", ""
        self._columns, self._start = [0], 0  # where the text of open list items and of this line starts
        self._in_paragraph = self._in_comment = False
        self._unclosed = []
    def lines(self, answer):
        found = []
        written = re.split("\r\n?|\n", answer)
        for number, (line, below) in enumerate(zip(written, (*written[1:], "")), 1):  # Python 3.9
            text = self._shown(line.expandtabs(4))
            is_code = bool(text.strip()) and self._is_code(text)
            heading = text[self._start :].lstrip(" ").startswith("#") or (
                below[:1] in ("=", "-", " ") and bool(_UNDERLINE.match(below))
            )
            if self._fence or self._closing:
                self._unclosed.append(_Line(number, line.strip(), heading, False))
            elif is_code or self._unclosed:
                self._unclosed.clear()
            if not text.strip():
                self._in_paragraph = self._in_comment = False
            elif not is_code and not self._is_quote(text):
                found.append(_Line(number, text.strip(), heading, not self._in_comment and "<!--" not in text))
                self._in_comment |= "<!--" in text
        return found + self._unclosed
    def _shown(self, line):
        shown, place, is_first = [""], 0, True
        while self._closing or ("<" in line and not self._fence and line.lstrip(" ")[:1] != ">"):
            if self._closing:
                end = _CLOSING[self._closing].search(line, place)
                if end is None:
                    return " ".join(shown)
                place, self._closing = end.end(), ""
            opening = _HTML.search(line, place)
            if opening is None:
                break
            name, before = opening[1].lower(), line[place : opening.start()]
            is_first = is_first and not before.strip(" -+*")
            if not is_first and not _CLOSING[name].search(line, opening.end()):
                break
            shown.append(before)
            place, self._closing = opening.end(), name
        return " ".join((*shown, line[place:]))
    def _is_code(self, text):
        indent = len(text) - len(text.lstrip(" "))
        item = _ITEM.match(text, indent)
        is_new = item or self._fence or not self._in_paragraph or text[indent] in "#>`~"
        while is_new and indent < self._columns[-1]:
            self._columns.pop()
            self._fence = ""
        if self._fence:
            bare = text.strip()
            if len(bare) >= len(self._fence) and not bare.strip(self._fence[0]):
                self._fence = ""
            return True
        if indent >= self._columns[-1] + 4 and not self._in_paragraph:
            return True
        while item:
            indent = item.end()
            self._columns.append(indent)
            self._in_comment, item = False, _ITEM.match(text, indent)
        fence = _FENCE.match(text, indent)
        self._fence = (fence[1] or fence[2]) if fence else ""
        self._start, self._in_paragraph = indent, not fence and indent < len(text.rstrip(" "))
        self._in_comment = self._in_comment and not fence and text[indent : indent + 1] != "#"
        return bool(fence)
    def _is_quote(self, text):
        quote = text[self._start :].lstrip(" ")
        if not quote.startswith(">"):
            return False
        self._in_paragraph = bool(quote.strip("> -+*"))
        return True

