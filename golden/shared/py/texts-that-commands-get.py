# --- Texts that commands get, and their answers: both are kept beside the journal.
PROMPTS, ANSWERS = "prompts", "answers"
# By which a process tells the runner of GitHub something, or acts as the job.
OF_RUNNER = rb"GITHUB_(TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY|STATE)|ACTIONS_.*"
def pairs(place, words):
    found = {}
    for word in words:
        name, equals, command = word.partition("=")
        if not equals or not command.strip() or "\0" in command:
            raise RefusedError(f"{place}: {one_line(word)}: expected NAME=COMMAND")
        found[name.strip()] = command
    return found
def for_others(environment):
    return {name: value for name, value in environment.items() if not re.fullmatch(OF_RUNNER, name)}
def answer_of(answered):
    return None if answered.trouble else decoded(answered.answer)

class Prompting(Calling):
    seconds = 0  # the time limit where the program says none
    def environment(self, node, **more):
        return for_others(super().environment(node, **more))
    def variables(self, name, _what):
        return {"RDC_STEP": name}
    def converse(self, node, calls):
        session, is_one = self.session, len(calls) == 1
        heard = [[] for _ in calls]
        made, numbers = [], []
        session.heed()
        for (name, what, command, given), lines in zip(calls, heard):  # Python 3.9 has no `strict`
            numbers.append(self.keep(PROMPTS, name, given))
            environment = self.environment(node, **self.variables(name, what))
            shown = self.show if is_one else lines.append
            made.append(Call(command, environment, given.encode("utf-8", "replace"), shown))
        def ended(index):
            if not is_one:
                session.display.line(f"    {one_line(calls[index][0])}:")
            if heard[index]:
                self.show("\n".join(heard[index]))
            self.settled(calls[index][0], self.processes.said)
        try:
            answers = exchange(self.processes, made, node.get("timeout", self.seconds), ended)
        except OSError as error:
            raise self.not_begun(session.state.node, error) from None
        for (name, *_), number, answered in zip(calls, numbers, answers):
            self.keep(ANSWERS, name, decoded(answered.answer), number)
        return answers
    def settled(self, _name, _answered):
        pass
    def show(self, lines):
        display = self.session.display
        shown = (f"    {line}".rstrip() for line in clean(lines).split("\n"))
        display.line(display.paint("\n".join(shown), "dim"))
    def keep(self, folder, name, text, number=0):
        store = self.session.store
        path, stem = os.path.join(store.folder, folder), file_name(name)
        while not number or (folder == PROMPTS and os.path.lexists(f"{path}/{stem}.{number}")):
            number += 1
        try:
            with inner(store.within, folder) as directory:
                put(directory, f"{stem}.{number}", self.session.mask(text).encode("utf-8", "replace"))
        except OSError as error:  # the journal is what counts
            self.session.display.line(f"    {clean(str(error.filename))}: not kept: {error.strerror}")
        return number

class KeptPrompts(Extension):
    def beside(self):
        return {PROMPTS: PROMPTS, ANSWERS: ANSWERS}

