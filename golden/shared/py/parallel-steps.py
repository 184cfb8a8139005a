# --- Parallel steps --------------------------------------------------------------------------------------------------

Joining = collections.namedtuple("Joining", "check failing unanimous decides", defaults=((), (), False,))
def joined_word(words, joining):
    for trouble in ("failed", "invalid", "ambiguous"):
        if trouble in words:
            return trouble
    unanimous, failing = set(joining.unanimous), set(joining.failing)
    if words[0] in unanimous and len(set(words)) == 1:
        return words[0]
    counted = [word for word in words if word != "none" and word not in unanimous]
    bad = [word for word in counted if word in failing]
    good = [word for word in counted if word not in failing]
    if joining.check == "any":
        return (good or bad or ["none"])[0]
    if bad:
        return bad[0]
    is_split = len(set(good)) > 1 or (joining.decides and len(good) < len(words))
    return "ambiguous" if is_split else (good or ["none"])[0]
def split_words(names, words, joining):
    silent = [name for name, word in zip(names, words) if word == "none" or word in joining.unanimous]
    if silent:
        return f"{', '.join(silent)}: no verdict, so nothing was reviewed; {REMEDY}"
    return "the verdicts differ: " + ", ".join(f"{name} {word}" for name, word in zip(names, words))
def joined_answer(answers):
    return "\n\n".join(answer for answer in answers if answer)

