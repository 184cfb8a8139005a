# --- Verdicts: the word that an answer says, and how those of several agents are joined. Pure.
COLOURS = "\x1b\\[[0-?]*[ -/]*[@-~]"  # what tells a terminal how to show the words beside it
def keywords_in(answer, keywords):
    ordered = sorted(keywords, key=len, reverse=True)
    alternatives = "|".join(f"({re.escape(keyword)})" for keyword in ordered)
    # Underscores around a word are emphasis of Markdown; within one they belong to it.
    exact, alike = (re.compile(rf"(?<!\w)_*(?:{alternatives})(?!_*[^\W_])", flags) for flags in (0, re.IGNORECASE))
    said = set()
    for line in reversed(answer.split("\n")):
        found, folded = (
            {ordered[match.lastindex - 1] for match in pattern.finditer(line) if match.lastindex}
            for pattern in (exact, alike)
        )
        if found:  # what an earlier line says in exact case may be a quotation, and so may the word below it
            return found | said
        said = said or folded
    return said
def is_found(pattern, answer):
    return re.search(pattern, answer, re.IGNORECASE) is not None
def read_word(answer, keywords, validation=None, excused=(), search=is_found):
    if keywords:
        return _decided(answer, keywords, validation, excused, search)
    return "pass" if answer else "fail"
def _decided(answer, keywords, validation, excused, search):
    if not answer:
        return "failed"
    answer = re.sub(COLOURS, "", answer)
    found = keywords_in(answer, keywords)
    is_excused = len(found) == 1 and bool(found & set(excused))
    if validation is not None and not is_excused and not search(validation, answer):
        return "invalid"
    if len(found) > 1:
        return "ambiguous"
    return found.pop() if found else "none"
def joined_word(words, check, failing=(), unanimous=()):
    for trouble in ("failed", "invalid", "ambiguous"):
        if trouble in words:
            return trouble
    if words[0] in set(unanimous) and len(set(words)) == 1:
        return words[0]
    counted = [word for word in words if word != "none" and word not in set(unanimous)]
    bad = [word for word in counted if word in set(failing)]
    good = [word for word in counted if word not in set(failing)]
    if check == "any":
        return (good or bad or ["none"])[0]
    if bad:
        return bad[0]
    return "ambiguous" if len(set(good)) > 1 else (good or ["none"])[0]
def joined_answer(answers):
    return "\n\n".join(answer for answer in answers if answer)

