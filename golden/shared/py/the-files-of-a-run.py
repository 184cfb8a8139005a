# --- The files of a run: made anew from the journal whenever it has grown, each whole or not at all.
def records_of(session, state):
    begin, *others = read_journal(session.store.path)[0] or [state.begin]
    if begin["run"] != state.begin["run"]:
        begin, others = state.begin, []
    records = RunRecords(session.program, begin)
    for record in others:
        records.apply(record)
    return records
def writer_of(mask):
    @functools.cache
    def item(written):
        return json.dumps(in_strings(mask, json.loads(written)), indent=2, sort_keys=True)
    def text(value, is_whole=True):  # any JSON value
        if not is_whole:
            return item(json.dumps(value, sort_keys=True))
        if isinstance(value, list):
            ends, parts = "[]", [text(one, False) for one in value]
        else:
            pairs = ((key, value[key]) for key in sorted(value))
            parts = [f"{json.dumps(key)}: {text(one, isinstance(one, list))}" for key, one in pairs]
            ends = "{}"
        inner = ",\n".join(parts).replace("\n", "\n  ")
        return f"{ends[0]}\n  {inner}\n{ends[1]}" if parts else ends
    return text
def marks_of(path):
    with suppress(FileNotFoundError):
        about = os.lstat(path)
        return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
    return ()
def records_told(session):
    state = session.read()
    if state is None:
        raise RefusedError(f"no run has begun here ({session.store.directory})")
    session.state = state
    return records_of(session, state).files()
def show_timeline(session):
    entries = in_strings(session.mask, records_told(session)["timeline"]["entries"])
    return session.display.say(timeline_lines(entries, bool(session.options.markdown)))
def copy_outputs(session):
    to, back, troubles = session.options.to, getattr(session.options, "from"), []
    if bool(to) == bool(back):
        raise RefusedError("outputs needs --to DIR or --from DIR")
    found, root, folder = records_told(session), session.state.begin["cwd"], os.path.abspath(to or back)
    source, target = (root, folder) if to else (folder, root)
    if to:
        os.makedirs(folder, exist_ok=True)
    for artifact in {one["path"]: one for one in found["artifacts"]}.values():  # the last one counts
        try:
            if to or is_missing(target, artifact["path"]):
                copy_output(source, target, artifact)
        except UnsafeError as error:
            troubles.append(f"output {error} ({source}, step {artifact['step_id']})")
    if troubles:
        raise RefusedError(*troubles, f"{len(troubles)} of the outputs could not be copied")
    return EXIT_COMPLETE
def copy_output(source, target, artifact):
    import hashlib
    content = read_inside(source, artifact["path"], math.inf)
    if hashlib.sha256(content).hexdigest() != artifact["sha256"]:
        raise UnsafeError(f"{artifact['path']} was changed since it was indexed")
    write_inside(target, artifact["path"], content)

class RecordFiles(Extension):
    commands = {
        "timeline": ("tell what happened, and when", show_timeline),
        "outputs": ("copy the outputs of completed steps", copy_outputs),
    }
    options = (
        ("run resume answer approve timeline outputs status", "--run-dir", "DIR", "the records of the run"),
        ("timeline", "--markdown", "", "as a table in Markdown"),
        ("outputs", "--to", "DIR", "the folder to copy to"),
        ("outputs", "--from", "DIR", "the folder to restore missing files from"),
    )
    _own = ""  # the folder beside the journal, by the state that was read last
    def read(self, state):
        self._own = "" if "run_dir" in state.begin else state.begin["run"]
    def beside(self):
        return {self._own: "files"} if self._own else {}
    def record(self, record):
        if "kind" not in record:
            return record
        given = self.session.options.run_dir
        if record["kind"] == "begin":
            now = record["time"]
            run = f"run-{now[:19].translate(str.maketrans('', '', '-T:'))}-{record['run'].rpartition('-')[2]}"
            return {**record, "run": run, **({"run_dir": given} if given else {})}
        state = self.session.state
        last = max(utc_now(), state.begin["time"], *(one.get("time", "") for one in state.finished[-1:]))
        return {**record, "time": max(last, record.get("time", ""))}
    def open(self):
        session, options, begin = self.session, self.session.options, self.session.state.begin
        self._records, self._text, self._written = records_of(session, session.state), writer_of(session.mask), {}
        given = options.run_dir or begin.get("run_dir")
        self._folder = os.path.join(begin["cwd"], given) if given else os.path.join(session.store.folder, begin["run"])
        if options.dry_run:
            return
        if options.command != "run":
            if options.run_dir not in (None, begin.get("run_dir")):
                self._set_aside()
            if session.is_same(session.state):  # another version may yet be refused
                self._write()
        elif given:  # what cannot be written to is refused before anything is recorded
            with self._opened():
                self._place_of_other()
    def event(self, event, fields):
        if event == "run_started" and not fields["resumed"]:
            self._set_aside()
            self._write()
    def written(self, record):
        if self._records.apply(record):
            self._write()
    def _write(self):
        with self._opened() as folder:
            for name, value in self._records.files().items():
                path, text = self._path(name), self._text(value) + "\n"
                if self._written.get(name) == (text, marks_of(path)):
                    continue
                try:
                    put(folder, f"{name}.json", text.encode("utf-8", "replace"))
                except OSError as error:
                    reason = f"{error.strerror}; when it can be written: {self.session.call('resume')}"
                    raise OSError(error.errno, reason, path) from None
                self._written[name] = (text, marks_of(path))
    def _path(self, name):
        return os.path.join(self._folder, f"{name}.json")
    @contextmanager
    def _opened(self):
        within, run = self.session.store.within, self.session.state.begin["run"]
        is_own = self._folder == os.path.join(self.session.store.folder, run)
        with naming(self._folder):
            if is_own and is_link(run, within.at):
                os.unlink(run, dir_fd=within.at)
            if not is_own:
                os.makedirs(self._folder, exist_ok=True)
            folder = within.enter(run) if is_own else Folder(os.open(self._folder, os.O_RDONLY), self._folder)
        folder.mode = PRIVATE
        try:
            yield folder
        finally:
            os.close(folder.at)
    def _place_of_other(self):
        manifest = self._path("manifest")
        try:
            with open(manifest, opener=at_once) as file:
                other = json.load(file)["run_id"]
        except FileNotFoundError:
            return ""
        except (OSError, ValueError, KeyError, TypeError):
            raise RefusedError(f"{manifest} is no manifest of a run: name another folder with --run-dir") from None
        place = os.path.join(self._folder, "history", os.path.basename(str(other)) or "run")
        if other == self.session.state.begin["run"]:
            return ""
        if os.path.exists(place):
            raise RefusedError(f"{place} is there already: name another folder with --run-dir")
        return place
    def _set_aside(self):
        if place := self._place_of_other():
            os.makedirs(place)
            for name in self._records.files():
                with suppress(FileNotFoundError):
                    os.rename(self._path(name), os.path.join(place, f"{name}.json"))

