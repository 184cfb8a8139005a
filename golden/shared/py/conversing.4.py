# --- Texts that are given to processes, and what these say to them (I11).
PROMPTS, ANSWERS = "prompts", "answers"
LONGEST_NAME = 200  # characters of a file's name

class Conversing(Calling):  # Gives texts to commands, and takes their answers.
    seconds = 0  # the time limit where the program says none (I21)
    def keep(self, folder, name, text, number=0):
        """Keep a text, whole or not at all, as STEP.K for the K-th call, and return K."""
        store = self.session.store
        directory, stem = Path(store.folder, folder), quote(name, safe="{} ")[:LONGEST_NAME]
        while not number or (folder == PROMPTS and os.path.lexists(directory / f"{stem}.{number}")):
            number += 1
        try:
            store.within.put(f"{folder}/{stem}.{number}", masked(text).encode("utf-8", "replace"))
        except OSError as error:  # the journal is what counts
            self.session.display.line(f"    {clean(str(error.filename))}: not kept: {error.strerror}")
        return number

KEPT.extend((PROMPTS, ANSWERS))

