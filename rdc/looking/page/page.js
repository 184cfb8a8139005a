// The page of `rdc view`. All content arrives as data and becomes text nodes or known shapes, so it can't add markup.
const $ = (id) => document.getElementById(id);
const ROWS = 300, LONGEST_LOG = 1 << 18, READABLE = 0.7;
const SIGNS = { passed: "✓", failed: "✕", running: "▸", waiting: "?" };
const LOOKS = { // the look and the sign of each state of a run; without a prototype: a record may have any state
  __proto__: null, running: ["running", "▸"], waiting: ["waiting", "?"], complete: ["passed", "✓"],
  stop: ["failed", "✕"], ready: ["waiting", "…"], queued: ["waiting", "…"], interrupted: ["waiting", "!"],
  halted: ["waiting", "!"], paused: ["waiting", "‖"], failed: ["failed", "✕"], expired: ["failed", "✕"],
  canceled: ["failed", "–"], refused: ["failed", "!"], unreadable: ["failed", "!"],
};

const HEADINGS = { // the words before the commands of a run
  __proto__: null, none: "To start a run:", stop: "What to do next:",
  interrupted: "A step was interrupted. See what it did, then choose:",
};

const token = location.hash.slice(1) || sessionStorage.getItem("token") || "";
sessionStorage.setItem("token", token);
history.replaceState(null, "", "/");

let doc = { steps: [], boxes: [], arrows: [], diagnostics: [] }, steps = new Map(), arrows = new Map();
let runs = [], run = null, other = null, chosen = null; // `chosen` is a visit, or a step without one

const call = (path, options = {}) =>
  fetch(`/api/${path}`, { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers } });
const ofRun = (which, path) => `runs/${encodeURIComponent(which.key)}/${path}`;
const connection = (textContent, className = "") => Object.assign($("live"), { textContent, className });
const lookOf = (state) => LOOKS[state] ?? ["", ""];
const step = (id) => steps.get(id) ?? { id, title: "", kind: "", at: "", text: "", command: "" };
const joined = (parts, between = " ") => parts.filter(Boolean).join(between);
const quoted = (word) => /^[\w./@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
const utc = (time) => time && `${time.slice(0, 19).replace("T", " ")} UTC`;
const which = ({ instance, attempt }) =>
  joined([instance && `instance ${instance}`, attempt > 1 && `attempt ${attempt}`], ", ");

function duration(seconds, digits = 1) {
  if (seconds < 60) return `${seconds.toFixed(digits)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function make(tag, values, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(values)) element[name] = value;
  element.append(...children.flat(2).filter(Boolean));
  return element;
}

const shown = new Map(), MOVING = ["question", "answered", "details"]; // these parts move the chosen row
function fill(id, key, children) { // only after a change, so that focus, selection and typed text stay
  const text = JSON.stringify(key), element = $(id);
  if (shown.get(id) === text) return;
  shown.set(id, text);
  element.replaceChildren(...children().flat().filter(Boolean));
  element.hidden = !element.childNodes.length;
  if (MOVING.includes(id)) setTimeout(() => $(`v${chosen?.n}`)?.scrollIntoView({ block: "nearest" }));
}

const p = (className, ...children) => make("p", { className }, ...children);
const span = (className, ...children) => make("span", { className }, ...children);
const field = (tag, label, values) => make("label", { className: "field" }, span("", label), make(tag, values));
const signOf = (look, sign) =>
  make("span", { className: "sign", ...(sign && { role: "img", ariaLabel: look.split(" ")[0] }) }, sign);
const pairs = (facts) => facts.filter(([, value]) => value).map(([name, value]) =>
  make("div", {}, make("dt", {}, name), make("dd", {}, value)));

function shell(command) {
  const copy = make("button", { type: "button", ariaLabel: `Copy ${command}` }, "Copy");
  copy.onclick = () => navigator.clipboard.writeText(command).then(() => { copy.textContent = "Copied"; });
  const words = command.split(" ").flatMap((word) => [" ", span("", word)]).slice(1); // lines end only between words
  return make("div", { className: "shell" }, make("code", {}, words), copy);
}

function row([look, sign], title, { more = "", time = "", lines = [], id = "", onclick = null } = {}) {
  const values = { className: `row ${look}`, ...(id && { id }), ...(onclick && { onclick, type: "button" }) };
  return make("li", {}, make(onclick ? "button" : "div", values, signOf(look, sign),
    span("title", title, more && [" ", span("fine", more)]), span("time", time), lines));
}

// --- A run: its state, its visits, and what they mean for the picture ------------------------------------------------

class Run {
  constructor(key) {
    Object.assign(this, { key, state: null, visits: [], stopped: new AbortController() });
    this.forget();
  }

  forget() { // after a change of the document or of the visits
    Object.assign(this, { folded: 0, looks: new Map(), counts: new Map(), taken: new Set(), index: new Map() });
  }

  get isOver() { return ["complete", "stop"].includes(this.state.state); }
  get now() { return !this.isOver && this.state.step ? this.visits.length + 1 : 0; }
  visit(n) { return n && n === this.now ? { n, step: this.state.step } : this.visits[n - 1]; }

  take(event, data) {
    if (event === "state") {
      if (this.state && this.state.run !== data.run) this.visits = [];
      this.state = data;
    } else this.visits.splice(data.after, Infinity, ...data.visits);
    if (this.folded > this.visits.length) this.forget();
  }

  fold() {
    for (const visit of this.visits.slice(this.folded)) {
      this.looks.set(visit.step, visit.is_failed ? "failed" : "passed");
      this.counts.set(visit.step, visit.count);
      this.index.set(`${visit.step} ${visit.attempt} ${visit.count}`, visit);
      [...visit.path, visit.next].reduce((source, target) => this.#move(source, target, visit), visit.step);
    }
    this.folded = this.visits.length;
  }

  #move(source, target, visit) {
    for (const { id, outcomes } of arrows.get(`${source} ${target}`) ?? []) {
      if (source !== visit.step || !outcomes.length || outcomes.includes(visit.outcome)) this.taken.add(id);
    }
    const { kind, result } = step(target), look = result === "stop" ? "failed" : "passed";
    if (["end", "branch"].includes(kind)) this.looks.set(target, look).set(`${source} ${target}`, look);
    return target;
  }

  look(id, source = "") { // the look and the sign of a box
    const isNow = this.now && this.state.step === id, known = this.looks.get(source ? `${source} ${id}` : id) ?? "";
    const [look, sign] = isNow ? lookOf(this.state.state) : [known, SIGNS[known] ?? ""];
    const count = (this.counts.get(id) ?? 0) + (isNow ? 1 : 0);
    return [look, sign && count > 1 ? `${sign} ${count}×` : sign];
  }
}

async function follow(one) {
  const { signal } = one.stopped;
  for (; !signal.aborted; await new Promise((done) => setTimeout(done, 1000))) {
    try {
      const known = `after=${one.visits.length}&run=${one.state?.run ?? ""}`;
      const response = await call(ofRun(one, `events?${known}`), { signal });
      if (!response.ok) return connection((await response.json()).error);
      if (one === run) connection("live", "on");
      await listen(one, response.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch {
      if (signal.aborted) return;
    }
    if (one === run) connection("reconnecting");
  }
}

async function listen(one, reader) {
  for (let rest = "", piece; !(piece = await reader.read()).done;) {
    const parts = (rest + piece.value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
      const news = event ? JSON.parse(data) : {};
      if (news.edition && news.edition !== doc.edition) await load();
      if (event === "runs") runs = (await (await call("runs")).json()).runs;
      else if (["state", "visits"].includes(event)) one.take(event, news);
    }
    schedule();
  }
}

function open(key) {
  run?.stopped.abort();
  run = new Run(key);
  compare(null);
  choose(null);
  follow(run);
}

function compare(key) {
  other?.stopped.abort();
  other = key === null ? null : new Run(key);
  if (other) follow(other);
  schedule();
}

// --- Header, question and facts --------------------------------------------------------------------------------------

function head() {
  const { state } = run, [look, sign] = lookOf(state.state), title = doc.title || doc.file;
  document.title = joined([sign, title]);
  $("title").textContent = $("title").title = title;
  $("file").textContent = joined([doc.file, doc.database], " · ");
  $("state").className = joined(["pill", look]);
  fill("state", state.state, () => [joined([sign, state.state === "none" ? "NO RUN" : state.state.toUpperCase()])]);
  const begun = runs.filter((one) => one.state !== "none").length;
  $("runs").hidden = !begun;
  $("other").hidden = begun < 2;
  $("chosen").textContent = state.name;
  const errors = doc.diagnostics.filter((one) => one.severity === "error").slice(0, 20);
  fill("problems", errors, () => errors.map((one) => p("", make("strong", {}, one.message), one.help && `; ${one.help}`,
    make("code", {}, ` ${joined([one.path, one.line], ":")} ${one.code}`))));
}

function question() {
  const { state } = run, asked = state.question, last = run.visits.at(-1), waits = state.state === "waiting";
  fill("question", [state.key, state.run, asked || (waits && [state.message, state.next])], () => asked ? fields(asked)
    : waits ? [p("fine", "This run waits for an answer."), state.message && p("text", state.message),
      state.next.map(shell)] : []);
  fill("holder", asked?.form && state.holder, () => asked?.form && state.holder
    ? [`A terminal has the question open too, and takes your answer: ${state.holder}`] : []);
  const isNone = state.state === "none", isIdle = !["running", "waiting", "complete"].includes(state.state);
  const commands = isNone ? [`rdc run ${quoted(doc.file)}`] : state.next;
  const goal = HEADINGS[state.state] ?? "To continue the run:";
  fill("answered", isIdle && [last, commands, goal], () => isIdle ? [
    last?.is_decision && p("", make("strong", {}, last.by), ` answered ${last.word}, ${utc(last.ended)}`),
    commands.length && p("fine", goal), commands.map(shell)] : []);
}

function fields({ asks, commands, entries, form, kind, replies, since, step: id, text, title }) {
  const options = asks?.options.length ? asks.options : replies.filter((reply) => reply !== "-");
  const isText = replies.includes("-") && !asks?.options.length;
  const about = [
    p("fine", `This run waits for ${kind === "gate" ? "an approval" : "an answer"}${since && ` since ${utc(since)}`}`),
    make("h2", {}, joined([id, title])), text && text !== title && p("text", text),
    make("ul", {}, entries.map((one) => row(lookOf(one.answered ? "complete" : "waiting"), one.entry))),
  ];
  if (!form) return [about, p("fine", "Answer it in a terminal:"), commands.map(shell)].flat();
  return [
    ...about,
    options.length && radios(options),
    isText && field("textarea", asks?.name ?? "Reply", { name: "reply", required: true, rows: 2 }),
    asks?.pattern && p("fine", "The reply has to match ", make("code", {}, asks.pattern)),
    field("input", "Your name", { name: "by", required: true, value: localStorage.getItem("by") ?? "" }),
    field("input", "Reason", { name: "note", placeholder: "optional" }),
    make("p", { className: "error", role: "alert" }),
    make("div", { className: "send" }, make("button", { className: "main" }, "Record the answer"),
      p("fine", doc.continues ? "The run continues then." : "You continue the run yourself.")),
  ];
}

function radios(options) {
  const isShort = options.length < 4 && options.every((one) => one.length < 13);
  return make("fieldset", { className: isShort ? "short" : "" }, make("legend", {}, "Reply"), options.map((value) =>
    make("label", { className: "reply" }, make("input", { type: "radio", name: "reply", value, required: true }),
      span("", /^(yes|no|pass|fail)$/.test(value) ? value.toUpperCase() : value))));
}

async function answer(event) {
  event.preventDefault();
  const { step: id, at } = run.state.question, given = Object.fromEntries(new FormData($("question")));
  const [button, error] = ["button.main", ".error"].map((name) => $("question").querySelector(name));
  localStorage.setItem("by", given.by);
  button.disabled = true;
  const headers = { "Content-Type": "application/json" }, body = JSON.stringify({ step: id, at, ...given });
  const response = await call(ofRun(run, "answer"), { method: "POST", headers, body }).catch(() => null);
  button.disabled = false;
  if (response?.ok) return;
  const { error: problem, help, decided: first } = response ? await response.json() : { error: "rdc view has ended" };
  error.textContent = first ? `${first.by} answered ${first.word} first, ${utc(first.ended)}`
    : joined([problem, help], "; ");
}

function facts() {
  const { state, visits } = run, isNone = state.state === "none", theirs = other?.state;
  const [worked, waited] = visits.reduce((sum, visit) => (sum[Number(visit.is_decision)] += visit.took, sum), [0, 0]);
  const found = isNone ? [] : [["Run", state.run], ["Started", utc(state.started)], ["Steps", visits.length],
    ["Time", visits.length && duration(worked)], ["Waited for people", waited && duration(waited)],
    ["Worker", state.worker],
    ["Compared", theirs && `${visits.filter(differs).length} rows differ from ${theirs.name} ${theirs.run}`]];
  fill("facts", found, () => pairs(found));
  const notices = joined([state.notice, !run.isOver && state.state !== "waiting" && state.message,
    !isNone && !state.is_same && "The document has changed since this run started."], "\n");
  fill("notices", notices, () => [notices]);
}

// --- Rows and details ------------------------------------------------------------------------------------------------

const list = { first: 0, last: 0, of: "", end: "" }, log = { pre: null, n: 0, next: 0, text: "" };
const match = (visit) => other?.index.get(`${visit.step} ${visit.attempt} ${visit.count}`);
const differs = (visit) => Boolean(other?.state) && match(visit)?.outcome !== visit.outcome;

function rowOf(visit) {
  const look = visit.is_failed ? "failed" : "passed", theirs = match(visit), isOther = differs(visit);
  const how = visit.is_failed && !visit.is_decision ? visit.how || visit.word : "";
  const then = visit.transition === "CONTINUE" ? "" : visit.transition;
  const lines = [
    (how || then) && span("then", span("how", how), how && then && " · ", then),
    visit.by && span("who", make("strong", {}, visit.by), visit.note && `: ${visit.note}`),
    other?.state && span("other", `${isOther ? "≠" : "="} ${other.state.name}: `,
      theirs ? `${theirs.word}, ${duration(theirs.took)}` : "not reached"),
  ];
  return row([isOther ? `${look} differs` : look, SIGNS[look]], joined([visit.step, visit.title]), { lines,
    more: which(visit), time: visit.is_decision ? visit.word : duration(visit.took), id: `v${visit.n}`,
    onclick: () => choose(visit) });
}

function rowOfNow() {
  const { state, now } = run, look = lookOf(state.state);
  if (run.isOver) return row(look, state.state.toUpperCase(), { more: state.message });
  return now && row(look, joined([state.step, state.title]), { more: which(state), id: `v${now}`,
    onclick: () => choose(run.visit(now)) });
}

function rows() {
  const { state, visits } = run, box = $("visits"), { title, instance, attempt, message } = state;
  const of = JSON.stringify([run.key, state.run, other?.key, other?.folded]);
  const end = JSON.stringify([of, visits.length, state.state, state.step, title, instance, attempt, message]);
  if (list.end === end) return;
  const follows = box.scrollTop + box.clientHeight > box.scrollHeight - 40;
  const focused = box.contains(document.activeElement) && document.activeElement.id;
  box.querySelector(".last")?.remove();
  if (list.of !== of || list.last > visits.length) {
    box.replaceChildren();
    list.first = list.last = Math.max(0, visits.length - ROWS);
  }
  box.append(...visits.slice(list.last).map(rowOf));
  Object.assign(list, { of, end, last: visits.length });
  if (follows) for (; list.last - list.first > ROWS; list.first++) box.firstChild.remove();
  const last = rowOfNow();
  if (last) box.append(Object.assign(last, { className: "last" }));
  if (follows) box.scrollTop = box.scrollHeight;
  if (focused) $(focused)?.focus({ preventScroll: true });
  mark();
}

function older() {
  const box = $("visits"), height = box.scrollHeight, first = Math.max(0, list.first - ROWS);
  box.prepend(...run.visits.slice(first, list.first).map(rowOf));
  list.first = first;
  box.scrollTop += box.scrollHeight - height;
}

function choose(visit, moves = false) {
  if (!visit && $("details").contains(document.activeElement)) $(`v${chosen?.n}`)?.focus();
  chosen = visit;
  while (visit?.n && visit.n <= list.first) older();
  if (moves) $(`v${visit.n}`)?.focus();
  mark();
  schedule();
}

function mark() {
  for (const button of $("visits").querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
  if (chosen?.n) $(`v${chosen.n}`)?.setAttribute("aria-current", "true");
}

function details() {
  const { state } = run, visit = run.visits[chosen?.n - 1], isRun = Boolean(chosen?.n);
  const of = chosen && [run.key, state.run, chosen.n, chosen.step, !visit && state.state, doc.drawn, state.has_logs];
  fill("details", of, () => {
    Object.assign(log, { n: chosen?.n, next: 0, text: "", pre: make("pre", { tabIndex: 0, ariaLabel: "Log" }) });
    if (!chosen) return [];
    const about = step(chosen.step), title = visit?.title ?? (isRun ? state.title : about.title);
    const hasLog = isRun && !["ask", "gate"].includes(about.kind), more = isRun && which(visit ?? state);
    if (hasLog && state.has_logs) readLog(log.pre);
    else log.pre.textContent = "No log. With the option --logs, rdc run keeps the output of each step.";
    return [
      make("button", { type: "button", className: "close", ariaLabel: "Close", onclick: () => choose(null) }, "✕"),
      make("h2", {}, joined([joined([about.id, title]), more], " · ")),
      hasLog && log.pre,
      make("dl", {}, pairs(visit ? ended(visit) : isRun ? [["State", state.state], ["Started", utc(state.since)]]
        : [["State", "not reached in this run"]]), pairs([["Source", about.at], ["Text", about.text]])),
      about.command && [make("h3", {}, "Command"), make("pre", { tabIndex: 0, ariaLabel: "Command" }, about.command)],
    ];
  });
}

function ended(visit) {
  return [["Outcome", joined([visit.word, !visit.is_decision && visit.how], ", ")],
    ["Then", joined([visit.transition, "→", visit.next])], ["Started", utc(visit.started)],
    ["Ended", joined([utc(visit.ended), `after ${duration(visit.took)}`])], ["Decided by", visit.by],
    ["Reason", visit.note], ["Remarks", visit.remarks.join("\n")], ...Object.entries(visit.outputs)];
}

async function readLog(pre) {
  const response = await call(ofRun(run, `log/${log.n}${log.next ? `?from=${log.next}` : ""}`));
  const text = await response.text();
  if (log.pre !== pre || !response.ok) return;
  const [from, next, size] = ["From", "Next", "Size"].map((name) => Number(response.headers.get(`Log-${name}`)));
  const follows = pre.scrollTop + pre.clientHeight > pre.scrollHeight - 30;
  log.text = from === log.next ? (log.text + text).slice(-LONGEST_LOG) : `…${text}`; // a long log starts with its end
  log.next = next;
  if (text) pre.textContent = log.text;
  else if (!log.text) pre.textContent = log.n === run.now ? "" : "No output.";
  if (follows) pre.scrollTop = pre.scrollHeight;
  if (text && next < size) readLog(pre);
  else if (log.n === run.now) setTimeout(() => log.pre === pre && readLog(pre), 400);
}

// --- The picture, and the outline instead of it ----------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg", SHAPES = ["svg", "g", "a", "polygon", "polyline", "path", "ellipse", "text"];
const DRAWN = /^(class|points|d|[cr]?[xy]|viewBox|transform|text-anchor|font-size|stroke-dasharray)$/;
const picture = { svg: null, parts: new Map(), boxes: [], size: [], zoom: 1, fits: true, moved: 0, at: "" };

function svgOf(tag, values, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function copied(node) { // only known elements and attributes
  const values = [...node.attributes].filter(({ name }) => DRAWN.test(name)).map(({ name, value }) => [name, value]);
  const children = [...node.childNodes].filter((child) => child.nodeType === 3 || SHAPES.includes(child.localName));
  const copy = svgOf(node.localName === "a" ? "g" : node.localName, Object.fromEntries(values),
    ...children.map((child) => child.nodeType === 3 ? child.data : copied(child)));
  if (node.id) picture.parts.set(node.id, copy);
  return copy;
}

async function draw() {
  const isLarge = doc.is_large && !picture.isForced, isNeeded = doc.drawn && !isLarge;
  const request = new XMLHttpRequest(); // Trusted Types refuse DOMParser
  request.open("GET", "/api/picture?draw=anyway");
  request.setRequestHeader("Authorization", `Bearer ${token}`);
  request.responseType = "document";
  await new Promise((done) => isNeeded ? Object.assign(request, { onloadend: done }).send() : done());
  const root = request.status === 200 && request.responseXML?.documentElement;
  picture.parts.clear();
  picture.svg = root ? copied(root) : null;
  $("sheet").hidden = $("zoom").hidden = !root;
  $("outline").hidden = Boolean(root);
  if (!root) return outline(isLarge);
  picture.svg.setAttribute("role", "img");
  picture.svg.setAttribute("aria-label", `The flow of ${doc.title}`);
  picture.size = picture.svg.getAttribute("viewBox").split(" ").slice(2).map(Number);
  $("sheet").replaceChildren(picture.svg);
  picture.boxes = doc.boxes.map((box) => ({ ...box, part: picture.parts.get(box.id) })).filter((box) => box.part);
  for (const { part, step: id } of picture.boxes) part.addEventListener("click", () => pick(id));
  if (picture.fits) fit(READABLE);
  else zoom(1);
}

function outline(isLarge) {
  const found = doc.steps.filter((one) => one.kind !== "branch");
  $("draw").hidden = !isLarge;
  $("why").textContent = isLarge ? `This document has ${doc.boxes.length} boxes, so it is shown as a list.`
    : found.length ? "There is no picture without Graphviz, so the steps are shown as a list."
      : "There is nothing to show yet.";
  $("steps").replaceChildren(...found.map((one) => row(["", ""], joined([one.id, one.title || one.text]),
    { time: one.at, onclick: () => pick(one.id) })));
  picture.boxes = found.map((one, place) => ({ step: one.id, part: $("steps").children[place].firstChild }));
}

function zoom(factor) {
  if (!picture.svg) return;
  picture.zoom = Math.max(0.1, Math.min(4, picture.zoom * factor));
  picture.fits = false;
  ["width", "height"].forEach((name, axis) => picture.svg.setAttribute(name, picture.size[axis] * picture.zoom));
}

function fit(least = 0.1) {
  const [width, height] = picture.size, { clientWidth, clientHeight } = $("sheet");
  const wanted = Math.max(least, Math.min(1.25, (clientWidth - 48) / width, (clientHeight - 88) / height));
  zoom(wanted / picture.zoom);
  picture.fits = true;
}

function paint() {
  const { svg, parts, boxes } = picture, now = run.now && run.state.step, hasRun = run.state.state !== "none";
  for (const one of [run, other]) one?.fold();
  for (const { step: id, source, part } of boxes) {
    part.classList.toggle("chosen", chosen?.step === id);
    repaint(part, ...run.look(id, source));
    if (svg && id === now && picture.at !== now && Date.now() - picture.moved > 5000) show(part);
  }
  picture.at = now;
  svg?.classList.toggle("started", hasRun);
  svg?.classList.toggle("over", run.isOver);
  for (const { id, source } of doc.arrows) {
    parts.get(id)?.classList.toggle("taken", source ? run.taken.has(id) : hasRun);
  }
}

function repaint(part, look, sign) {
  if (part.dataset.look === look + sign) return;
  part.dataset.look = look + sign;
  part.classList.remove(...Object.keys(SIGNS), "seen");
  if (look) part.classList.add(look, "seen");
  part.querySelector(".badge")?.remove();
  if (!picture.svg) part.firstChild.replaceWith(signOf(look, sign));
  else if (look) part.append(badge(part.querySelector("polygon, path, ellipse"), look, sign));
}

function badge(shape, look, sign) { // at the right end of the shape's upper edge
  const box = shape.getBBox(), width = 12 + 7 * sign.length;
  const top = [...(shape.points ?? [])].filter((corner) => corner.y < box.y + 1).map((corner) => corner.x);
  const x = top.length ? Math.max(...top) : box.x + box.width - 6;
  const plate = svgOf("rect", { x: -width / 2, y: -9, width, height: 18, rx: look === "failed" ? 4 : 9 });
  return svgOf("g", { class: "badge", transform: `translate(${x}, ${box.y})` }, plate, svgOf("text", { y: 4 }, sign));
}

function show(part) { // scrolls only the picture, and only if the part isn't visible
  const [room, place] = [$("sheet"), part].map((one) => one.getBoundingClientRect()), { x, y, width, height } = place;
  if (x >= room.x && y >= room.y && place.right <= room.right && place.bottom <= room.bottom) return;
  $("sheet").scrollBy(x - room.x - (room.width - width) / 2, y - room.y - (room.height - height) / 2);
}

function pick(id) { // a box, or a step of the outline or of the search
  const box = picture.boxes.find((one) => one.step === id);
  if (picture.svg && box) show(box.part);
  const isNow = run.now && run.state.step === id;
  choose(isNow ? run.visit(run.now) : run.visits.findLast((visit) => visit.step === id) ?? { step: id });
}

// --- Choosing, keys and the start ------------------------------------------------------------------------------------

function choosing(title, items, done) {
  const needle = $("needle");
  needle.oninput = () => {
    const fits = items.filter((item) => item.text.toLowerCase().includes(needle.value.toLowerCase()));
    $("found").replaceChildren(...fits.slice(0, 100).map(({ text, note, state, value }) => row(lookOf(state), text, {
      lines: [note && span("then", note)], onclick: () => { $("chooser").close(); needle.blur(); done(value); } })));
    $("nothing").hidden = Boolean(fits.length);
  };
  $("asked").textContent = needle.ariaLabel = title;
  needle.value = "";
  needle.oninput();
  $("chooser").showModal();
}

const find = () => choosing("Find a step", doc.steps.filter((one) => one.kind !== "branch").map((one) => (
  { text: joined([one.id, one.title || one.text]), note: one.at, value: one.id })), pick);
const itemOf = (one) => ({ text: joined([one.name, one.id]), state: one.state, value: one.key,
  note: joined([one.state.toUpperCase(), utc(one.started), one.message], " · ") });
const chooseRun = () => choosing("Choose a run", runs.map(itemOf), open);
const chooseOther = () => choosing("Compare with", [{ text: "No other run", value: null },
  ...runs.filter((one) => one.key !== run.key).map(itemOf)], compare);

function arrowKey(event) {
  const stops = [$("needle"), ...$("found").querySelectorAll("button")], place = stops.indexOf(document.activeElement);
  const next = { ArrowDown: stops[place + 1], ArrowUp: stops[place - 1] }[event.key];
  if (next) next.focus();
  else if (event.key === "Enter" && !place) stops[1]?.click();
  else return;
  event.preventDefault();
}

const CLICKS = {
  runs: chooseRun, other: chooseOther, find, keys: () => $("help").showModal(), close: () => $("help").close(),
  fit: () => picture.svg && fit(), plus: () => zoom(1.25), minus: () => zoom(0.8),
  draw: () => { picture.isForced = true; draw().then(schedule); },
};
const KEYS = {
  a: () => $("question").querySelector("input, textarea, button")?.focus(), "/": find, r: chooseRun, c: chooseOther,
  f: CLICKS.fit, "+": CLICKS.plus, "-": CLICKS.minus, "?": CLICKS.keys,
  Escape: () => chosen ? choose(null) : compare(null),
};

function key(event) {
  if (event.target.matches("input, textarea") || document.querySelector("dialog[open]")) return;
  if (event.ctrlKey || event.metaKey || event.altKey || !run) return;
  const last = run.state ? run.now || run.visits.length : 0, n = chosen?.n ?? 0;
  const target = { j: Math.min(last, n + 1), k: Math.max(1, n - 1), Home: 1, End: last }[event.key];
  if (target && last) choose(run.visit(target), true);
  else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
  else return;
  event.preventDefault();
}

let isDue = false;
function schedule() { // one update for several events
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    if (run?.state) for (const part of [paint, head, question, facts, rows, details, tick]) part();
  }, 10);
}

function tick() {
  const { state, since } = run?.state ?? {}, time = run?.state && $(`v${run.now}`)?.querySelector(".time");
  const passed = Math.max(0, (Date.now() - Date.parse(since)) / 1000);
  if (time) time.textContent = since && state === "running" ? duration(passed, 0) : state;
}

async function load() {
  const { drawn } = doc;
  doc = await (await call("document")).json();
  steps = new Map(doc.steps.map((one) => [one.id, one]));
  arrows = Map.groupBy(doc.arrows, (one) => `${one.source} ${one.target}`);
  if (doc.drawn !== drawn) await draw();
  run?.forget();
}

async function start() {
  const response = await call("runs"), found = await response.json();
  if (!response.ok) return connection(found.error);
  runs = found.runs;
  await load();
  open(found.chosen);
}

for (const [id, act] of Object.entries(CLICKS)) $(id).onclick = act;
for (const name of ["wheel", "pointerdown", "keydown"]) {
  $("sheet").addEventListener(name, () => { picture.moved = Date.now(); });
}
for (const id of ["chooser", "help"]) $(id).onclick = (event) => event.target === $(id) && $(id).close();
$("question").onsubmit = answer;
$("chooser").onkeydown = arrowKey;
$("visits").onscroll = () => { if (list.first && $("visits").scrollTop < 100) older(); };
addEventListener("keydown", key);
addEventListener("resize", () => picture.svg && picture.fits && fit(READABLE));
setInterval(tick, 1000);
start();
