# --- Texts that are given to processes, and what these say to them (I11).
PROMPTS, ANSWERS = "prompts", "answers"
# By which a process tells the runner of GitHub something, or acts as the job.
OF_RUNNER = re.compile(rb"GITHUB_(TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY|STATE)|ACTIONS_.*")
LONGEST_NAME = 200  # characters of a file's name

def for_others(environment):  # Return an environment without what is between a job and the runner of GitHub.
    return {name: value for name, value in environment.items() if not OF_RUNNER.fullmatch(name)}

class Conversing(Calling):  # Gives texts to commands, and takes their answers.
    seconds = 0  # the time limit where the program says none (I21)
    def environment(self, node, **more):  # Return the environment of an agent, a tool or an executor.
        return for_others(super().environment(node, **more))
    def variables(self, name, _what):
        """Return the variables that what is called finds besides the usual ones, or in their place."""
        return {"RDC_STEP": name}
    def converse(self, node, calls):  # Call commands at the same time, and keep what they were given and answered.
        session, is_one = self.session, len(calls) == 1
        heard = [[] for _ in calls]
        made, numbers = [], []
        session.heed()
        for (name, what, command, given), lines in zip(calls, heard):  # Python 3.9 has no `strict`
            numbers.append(self.keep(PROMPTS, name, given))
            environment = self.environment(node, **self.variables(name, what))
            shown = self._show if is_one else lines.append
            made.append(Call(command, environment, given.encode("utf-8", "replace"), shown))

        def ended(index):
            if not is_one:
                session.display.line(f"    {one_line(calls[index][0])}:")
            if heard[index]:
                self._show("\n".join(heard[index]))

        try:
            answers = exchange(self.processes, made, node.get("timeout", self.seconds), ended)
        except OSError as error:
            raise self.not_begun(session.state.node, error) from None
        for (name, *_), number, answered in zip(calls, numbers, answers):
            self.keep(ANSWERS, name, decoded(answered.answer), number)
        return answers
    def _show(self, lines):
        display = self.session.display
        shown = (f"    {line}".rstrip() for line in clean(lines).split("\n"))
        display.line(display.paint("\n".join(shown), "dim"))
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

def answer_of(answered):  # Return the answer of what was called; None if it gave none.
    return None if answered.trouble else decoded(answered.answer)

KEPT.extend((PROMPTS, ANSWERS))

