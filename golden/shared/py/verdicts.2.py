# --- Verdicts --------------------------------------------------------------------------------------------------------

Reading = collections.namedtuple("Reading", "keywords validation excused failing", defaults=(None, (), (),))

class _Keywords:
    def __init__(self, reading, answer):
        self._known = {keyword.casefold(): keyword for keyword in reading.keywords}
        self._failing = {*reading.failing, *(self._known[word] for word in LISTED if word in self._known)}
        self._longest = max(map(len, self._known), default=0) + _LONGEST_LABEL
        folded, excused = answer.casefold(), set(reading.excused)
        present = [word for key, word in self._known.items() if key in folded]
        deciding = [word for word in present if word not in excused]
        self._any_case = _words(present, re.IGNORECASE)
        self._exact = _words(deciding, 0)
        self._listed = _words([word for word in deciding if word.casefold() in LISTED], re.IGNORECASE)
    def verdict(self, line):
        text = line.text
        found, written = self._whole(text)
        if found:
            return ("" if line.is_heading and found != written else found), False
        bare = text[_end(text) :]
        heads = (bare[: dash.start()].strip(_MARKS) for dash in _DASH.finditer(bare, 0, self._longest))
        if failing := next((head for head in heads if head in self._failing), ""):
            return failing, False
        label, colon, rest = bare.partition(":")
        found = self._whole(rest)[0] if colon else ""
        return (found if found and self._is_label(label.strip(_MARKS)) else ""), True
    def named(self, text):
        found = self._exact.search(text) or self._listed.search(text)
        return found[1] if found else ""
    def known(self, word):
        return self._known.get(word.strip().casefold(), "")
    def _whole(self, text):
        text = text.strip()
        short = text.rstrip(_MARKS)
        shorter = short[:-1].rstrip(_MARKS) if short.endswith((".", "!")) else short
        for one in (text, short, shorter):
            for written in (one, one[_end(one) :]):
                if found := self._known.get(written.casefold()):
                    return found, written
        return "", ""
    def _is_label(self, label):
        is_short = bool(re.search(r"\w", label)) and len(label) <= _LONGEST_LABEL
        return is_short and not _NEGATION.search(label) and not self._any_case.search(label)
def _end(text):
    found = _BEFORE.match(text)
    return found.end() if found else 0
def _words(keywords, flags):
    alternatives = "|".join(map(re.escape, sorted(keywords, key=len, reverse=True))) or "(?!)"
    return re.compile(rf"(?<!\w)_*({alternatives})(?!_*[^\W_])", flags)
def read_word(answer, reading, search=look):
    if not reading.keywords:
        return ("pass" if answer else "fail"), ""
    if not answer:
        return "failed", ""
    answer = _ESCAPES.sub(_seen, answer)
    found, trouble = _verdict(answer, reading, search)
    is_excused = found in reading.excused and not trouble
    if reading.validation is not None and not is_excused and not is_found(reading.validation, answer, search):
        return "invalid", ""
    return ("ambiguous", trouble) if trouble else (found or "none", "")
def _seen(escape):
    return _UNENDED.sub("", escape[1]) if escape[1] and not escape[2] else ""
def _verdict(answer, reading, search):
    lines, keywords = _Reader().lines(answer), _Keywords(reading, answer)
    pattern = reading.validation or ""
    if "(" in pattern and set(reading.keywords) - set(reading.excused):
        shown = "\n".join(line.text for line in lines if line.is_sure)
        for group in search("last", _wrapped(pattern, *_AROUND), shown):
            found = keywords.known(group)
            return found, "" if found else f"its line for the validation pattern names no keyword; {REMEDY}"
    verdicts = [(line, *keywords.verdict(line)) for line in lines if line.is_sure]
    verdicts = [(line, word, labeled) for line, word, labeled in verdicts if word]
    if verdicts:
        first, (last, word, labeled) = (
            next((one for one in verdicts if one[1] != verdicts[-1][1]), verdicts[-1]),
            verdicts[-1],
        )
        if first[1] == word or (labeled and not any(one[2] for one in verdicts[:-1])):
            return word, ""
        return "", f"it has two verdicts: {first[1]} in line {first[0].number} and {word} in line {last.number}"
    for line in lines:
        if word := keywords.named(line.text):
            return "", f"{word} in line {line.number} is part of a sentence or quotation; {REMEDY}"
    return "", ""

