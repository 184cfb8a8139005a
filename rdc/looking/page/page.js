// The page of `rdc view`. Everything it shows arrives as data and becomes text nodes, so no content can add markup.
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const ROWS = 300, CHUNK = 65536, READABLE = 0.7, LONGEST_LOG = 4 * CHUNK, ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))/g;
const LOOKS = { // the look and the sign of each state
  ready: ["waiting", "…"], queued: ["waiting", "…"], running: ["running", "▸"], waiting: ["waiting", "?"],
  interrupted: ["waiting", "!"], paused: ["waiting", "‖"], halted: ["waiting", "!"], complete: ["passed", "✓"],
  stop: ["failed", "✕"], failed: ["failed", "✕"], expired: ["failed", "✕"], canceled: ["failed", "–"],
  refused: ["failed", "!"], unreadable: ["failed", "!"],
};
const SIGNS = { passed: "✓", failed: "✕", running: "▸", waiting: "?" };

const token = location.hash.slice(1) || sessionStorage.getItem("token") || "";
sessionStorage.setItem("token", token);
history.replaceState(null, "", "/");

let doc = { steps: [], boxes: [], arrows: [], diagnostics: [] };
let steps = new Map(), arrows = new Map(), runs = [], run = null, other = null, chosen = null, form = "";

const call = (path, options = {}) =>
  fetch(`/api/${path}`, { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers } });
const fetched = async (path) => (await call(path)).json();
const step = (id) => steps.get(id) ?? { id, title: "", kind: "", at: "", text: "", command: "" };
const named = (id, title) => [id, title].filter(Boolean).join(" ");
const readable = (time) => time && `${time.slice(0, 19).replace("T", " ")} UTC`;
const seconds = (since) => Math.max(0, (Date.now() - Date.parse(since)) / 1000);

function make(tag, values = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(values)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== "" && child != null && child !== false));
  return element;
}

function duration(time) {
  if (time < 60) return `${time.toFixed(1)} s`;
  const minutes = Math.floor(time / 60);
  return minutes < 60 ? `${minutes} min ${Math.floor(time % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const pairs = (facts) => facts.filter(([, value]) => value).map(([name, value]) =>
  make("div", {}, make("dt", {}, name), make("dd", {}, value)));

function shell(command) {
  const copy = make("button", { type: "button", ariaLabel: `Copy: ${command}` }, "Copy");
  copy.onclick = async () => {
    await navigator.clipboard.writeText(command);
    copy.textContent = "Copied";
  };
  return make("div", { className: "shell" }, make("code", {}, command), copy);
}

// --- One run: its state, its visits, and what they mean for the picture ----------------------------------------------

class Run {
  constructor(key) {
    Object.assign(this, { key, state: null, visits: [], stopped: new AbortController() });
    this.forget();
  }

  forget() { // when the document or the run has changed
    Object.assign(this, { folded: 0, looks: new Map(), counts: new Map(), taken: new Set(), index: new Map() });
  }

  get isOver() { return ["complete", "stop"].includes(this.state.state); }
  get now() { return !this.isOver && this.state.step ? this.state.total + 1 : 0; }

  take(event, data) {
    if (event === "state") {
      if (this.state && this.state.run !== data.run) this.visits = [];
      this.state = data;
    } else {
      this.visits.length = Math.min(this.visits.length, data.after);
      this.visits.push(...data.visits);
    }
    if (this.folded > this.visits.length) this.forget();
  }

  fold() {
    for (const visit of this.visits.slice(this.folded)) {
      this.looks.set(visit.step, visit.is_failed ? "failed" : "passed");
      this.counts.set(visit.step, visit.count);
      this.index.set(`${visit.step} ${visit.attempt} ${visit.count}`, visit);
      const way = [visit.step, ...visit.path, visit.next];
      way.slice(1).forEach((target, hop) => this.#move(way[hop], target, hop ? "" : visit.outcome));
    }
    this.folded = this.visits.length;
  }

  #move(source, target, outcome) {
    for (const arrow of arrows.get(`${source} ${target}`) ?? []) {
      if (!outcome || !arrow.outcomes.length || arrow.outcomes.includes(outcome)) this.taken.add(arrow.id);
    }
    const { kind, result } = step(target);
    if (kind !== "end" && kind !== "branch") return;
    for (const name of [target, `${source} ${target}`]) this.looks.set(name, result === "stop" ? "failed" : "passed");
  }

  look(box) { // the look and the number of visits of a box or a step
    const { id = box.step } = box.source === undefined ? box : {};
    const isNow = this.now && this.state.step === id;
    const look = isNow ? (LOOKS[this.state.state] ?? [""])[0] : this.looks.get(box.source ? `${box.source} ${id}` : id);
    return [look ?? "", (this.counts.get(id) ?? 0) + (isNow ? 1 : 0)];
  }
}

async function follow(which) {
  const { signal } = which.stopped;
  for (let isOn = true; isOn; await new Promise((done) => setTimeout(done, 1000))) {
    try {
      const path = `runs/${encodeURIComponent(which.key)}/events?after=${which.visits.length}`;
      const response = await call(path, { signal });
      if (response.ok) {
        if (which === run) connection("live", true);
        await listen(which, response.body.pipeThrough(new TextDecoderStream()).getReader());
      } else if (response.status < 500) {
        connection((await response.json()).error);
        isOn = false;
      }
    } catch {
      if (signal.aborted) return;
    }
    if (isOn && which === run) connection("reconnecting");
  }
}

async function listen(which, reader) {
  for (let rest = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
      if (event === "document") await load();
      else if (event === "runs") runs = (await fetched("runs")).runs;
      else if (event) which.take(event, JSON.parse(data));
    }
    schedule();
  }
}

function connection(text, isOn = false) {
  $("live").textContent = text;
  $("live").className = isOn ? "on" : "";
}

function open(key) {
  run?.stopped.abort();
  compare(null);
  run = new Run(key);
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
  const { state } = run, [look, sign] = LOOKS[state.state] ?? ["", ""];
  const word = state.state === "none" ? "NO RUN" : state.state.toUpperCase();
  const label = `${sign} ${word}`.trim();
  document.title = `${sign} ${doc.title}`.trim();
  $("title").textContent = $("title").title = doc.title;
  $("file").textContent = doc.file;
  if ($("state").textContent !== label) $("state").textContent = label;
  $("state").className = `pill ${look}`.trim();
  $("runs").hidden = !runs.length;
  $("chosen").textContent = state.name || state.key;
  const errors = doc.diagnostics.filter((one) => one.severity === "error");
  $("problems").hidden = !errors.length;
  $("problems").replaceChildren(...errors.slice(0, 20).map((one) => make("p", {},
    make("strong", {}, one.message), make("span", {}, one.help && ` ${one.help}`),
    make("code", {}, ` ${one.path}${one.line ? `:${one.line}` : ""} ${one.code}`))));
}

function question() {
  const { state } = run, asked = state.question, box = $("question");
  const key = asked ? JSON.stringify([state.key, state.run, asked]) : "";
  if (form !== key) {
    form = key;
    box.hidden = !asked;
    box.replaceChildren(...(asked ? fields(asked) : []));
  }
  const holder = asked && box.querySelector(".holder");
  if (holder) holder.textContent = state.holder && `Open in a terminal, which takes your answer: ${state.holder}`;
  const last = run.visits.at(-1), decided = !run.isOver && last?.is_decision && state.state !== "running" ? last : null;
  const commands = asked || run.isOver || ["running", "none", "waiting"].includes(state.state) ? [] : state.next;
  const key2 = JSON.stringify([decided?.n, commands, asked && decided?.n]);
  if ($("answered").dataset.key === key2) return;
  $("answered").dataset.key = key2;
  $("answered").replaceChildren(...(asked ? [] : [
    ...(decided ? [make("p", {}, make("strong", {}, decided.by), ` answered ${decided.word}, ${readable(decided.ended)}`)] : []),
    ...(commands.length ? [make("p", { className: "fine" }, "To continue the run:"), ...commands.map(shell)] : []),
  ]));
}

function fields(asked) {
  const { asks, replies } = asked;
  const waits = asked.entries.filter((entry) => !entry.answered);
  const words = asks?.options.length ? asks.options : replies.filter((reply) => reply !== "-");
  const isText = asks ? !asks.options.length && replies.includes("-") : replies.includes("-");
  const about = [
    make("p", { className: "fine" }, asked.kind === "gate" ? "This run waits for an approval" : "This run waits for an answer",
      asked.since && ` since ${readable(asked.since)}`),
    make("h2", {}, named(asked.step, asked.title)),
    asked.text && asked.text !== asked.title ? make("p", { className: "text" }, asked.text) : "",
  ].filter(Boolean);
  if (!asked.form) return [...about, make("p", { className: "fine" }, "Answer it in a terminal:"), ...asked.commands.map(shell)];
  return [
    ...about,
    waits.length ? radios("step", "Entry", waits.map((entry) => [entry.entry, `${entry.entry} ${entry.text}`])) : "",
    words.length ? radios("reply", "Reply", words.map((word) => [word, asks ? word : word.toUpperCase()])) : "",
    isText ? field("reply", asks?.name ?? "Reply", { required: true, rows: 2, title: asks?.pattern ?? "" }, "textarea") : "",
    asks?.pattern ? make("p", { className: "fine" }, "It has to match ", make("code", {}, asks.pattern)) : "",
    field("by", "Your name", { required: true, value: localStorage.getItem("by") ?? "", maxLength: 200 }),
    field("note", "Reason", { maxLength: 4000, placeholder: "optional" }),
    make("p", { className: "error", role: "alert" }),
    make("div", { className: "send" }, make("button", { className: "main" }, "Record the answer"),
      make("span", { className: "fine" }, doc.continues ? "Then the run continues." : "Nothing runs until you continue the run.")),
    make("p", { className: "fine holder" }),
  ].filter(Boolean);
}

function radios(name, label, options) {
  const isShort = options.length < 4 && options.every(([, text]) => text.length < 13);
  return make("fieldset", { className: isShort ? "short" : "" }, make("legend", {}, label), options.map(([value, text]) => make("label", { className: "reply" },
    make("input", { type: "radio", name, value, required: true, ariaLabel: text }), make("span", {}, text))));
}

function field(name, label, values, tag = "input") {
  return make("label", { className: "field" }, make("span", {}, label), make(tag, { name, ...values }));
}

async function answer(event) {
  event.preventDefault();
  const { step: at, ...given } = Object.fromEntries(new FormData($("question"))), asked = run.state.question;
  localStorage.setItem("by", given.by);
  const body = JSON.stringify({ note: "", ...given, step: at ?? asked.step, at: asked.at });
  const button = $("question").querySelector("button.main"), error = $("question").querySelector(".error");
  button.disabled = true;
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  const response = await call(`runs/${encodeURIComponent(run.key)}/answer`, options);
  button.disabled = false;
  if (response.ok) return;
  const { error: problem, help, decided } = await response.json();
  error.textContent = decided ? `${decided.by} answered ${decided.word} first, ${readable(decided.ended)}. ${decided.note}`
    : [problem, help].filter(Boolean).join("; ");
}

function facts() {
  const { state, visits } = run, worked = visits.filter((visit) => !visit.is_decision);
  const sum = (some) => some.reduce((total, visit) => total + visit.took, 0);
  const waited = sum(visits.filter((visit) => visit.is_decision));
  $("none").hidden = state.state !== "none" && state.is_same && !state.notice && !state.message;
  $("none").textContent = state.state === "none" ? `No run yet. To start one: rdc run ${doc.file}`
    : [state.notice, run.isOver ? "" : state.message,
      state.is_same ? "" : "The document has changed since this run started."].filter(Boolean).join(" ");
  const differs = other?.state ? visits.filter((visit) => differing(visit)).length : 0;
  $("facts").replaceChildren(...(state.state === "none" ? [] : pairs([
    ["Run", state.run], ["Started", readable(state.began)], ["Steps", String(visits.length)], ["Time", duration(sum(worked))],
    ["Waited for people", waited && duration(waited)], ["Worker", state.worker],
    ["Compared with", other?.state && `${other.state.name} ${other.state.run}: ${differs} ${differs === 1 ? "row differs" : "rows differ"}`],
  ])));
}

// --- Rows and details ------------------------------------------------------------------------------------------------

const list = { first: 0, last: 0, of: "" };
const matching = (visit) => other?.index.get(`${visit.step} ${visit.attempt} ${visit.count}`);
const differing = (visit) => matching(visit)?.outcome !== visit.outcome;

function row(tag, look, sign, title, more, time, lines, values) {
  return make("li", {}, make(tag, { className: `row ${look}`, ...values },
    make("span", { className: "sign", ariaHidden: "true" }, sign),
    make("span", { className: "title" }, title, more && make("span", { className: "fine" }, more)),
    make("span", { className: "time" }, time), lines));
}

const again = (attempt) => attempt > 1 ? `attempt ${attempt}` : "";

function rowOf(visit) {
  const look = visit.is_failed ? "failed" : "passed", how = visit.is_decision ? "" : visit.is_failed ? visit.how || visit.word : "";
  const then = visit.transition === "CONTINUE" ? "" : visit.transition, theirs = matching(visit), differs = other?.state && differing(visit);
  const lines = [
    (how || then) && make("span", { className: "then" }, make("span", { className: "how" }, how), how && then ? " · " : "", then),
    visit.by && make("span", { className: "who" }, make("strong", {}, visit.by), visit.note && `: ${visit.note}`),
    other?.state && make("span", { className: "other" }, differs ? "≠ " : "= ", `${other.state.name}: `,
      theirs ? `${theirs.word}, ${duration(theirs.took)}` : "not reached"),
  ];
  const time = visit.is_decision ? visit.word : duration(visit.took);
  const values = { type: "button", id: `v${visit.n}`, onclick: () => choose(visit) };
  return row("button", `${look}${differs ? " differs" : ""}`, SIGNS[look], named(visit.step, visit.title), again(visit.attempt),
    time, lines, values);
}

function rows() {
  const { state, visits } = run, box = $("visits"), [look, sign] = LOOKS[state.state] ?? ["", ""];
  const of = JSON.stringify([run.key, state.run, other?.key, other?.folded]);
  const follows = box.scrollTop + box.clientHeight > box.scrollHeight - 40;
  for (const id of [`v${visits.length + 1}`, "end"]) $(id)?.parentNode.remove();
  if (list.of !== of || list.last > visits.length) {
    box.replaceChildren();
    list.first = list.last = Math.max(0, visits.length - ROWS);
    list.of = of;
  }
  for (; list.last < visits.length; list.last++) box.append(rowOf(visits[list.last]));
  if (follows) for (; list.last - list.first > ROWS; list.first++) box.firstChild.remove();
  if (run.isOver) box.append(row("div", look, sign, state.state.toUpperCase(), state.message, "", [], { id: "end" }));
  else if (run.now === visits.length + 1) {
    const values = { type: "button", id: `v${run.now}`, onclick: () => choose({ n: run.now, step: state.step }) };
    box.append(row("button", look, sign, named(state.step, state.title), again(state.attempt), "", [], values));
  }
  if (follows) box.scrollTop = box.scrollHeight;
  mark();
}

function older() {
  const box = $("visits"), height = box.scrollHeight, first = Math.max(0, list.first - ROWS);
  box.prepend(...run.visits.slice(first, list.first).map(rowOf));
  list.first = first;
  box.scrollTop += box.scrollHeight - height;
}

function choose(visit, moves = false) {
  chosen = visit;
  if (visit?.n) while (visit.n <= list.first) older();
  const button = visit?.n && $(`v${visit.n}`);
  if (moves && button) button.focus();
  mark();
  schedule();
}

function mark() {
  for (const button of $("visits").querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
  if (chosen?.n) $(`v${chosen.n}`)?.setAttribute("aria-current", "true");
}

const log = { pre: null, n: 0, from: 0, text: "", of: "" };

function details() {
  const box = $("details"), visit = chosen?.n ? run.visits[chosen.n - 1] : null;
  const of = chosen ? JSON.stringify([run.key, run.state.run, chosen.n, chosen.step, !visit, doc.drawn, run.state.has_logs]) : "";
  if (log.of === of) return;
  Object.assign(log, { of, n: chosen?.n ?? 0, from: 0, text: "", pre: null });
  box.hidden = !chosen;
  if (!chosen) return;
  const about = step(chosen.step), isRun = visit || chosen.n, title = visit?.title ?? (isRun ? run.state.title : about.title);
  const close = make("button", { type: "button", className: "close", ariaLabel: "Close", onclick: () => choose(null) }, "✕");
  log.pre = make("pre", { tabIndex: 0, ariaLabel: "Log" });
  box.replaceChildren(close, make("h2", {}, named(chosen.step, title), visit && again(visit.attempt) && ` · ${again(visit.attempt)}`),
    make("dl", {}, pairs([
      ["Outcome", visit ? [visit.word, visit.is_decision ? "" : visit.how].filter(Boolean).join(", ") : isRun ? run.state.state : "not reached"],
      ["Transition", visit && [visit.transition, visit.next].filter(Boolean).join(" → ")],
      ["Started", readable(visit ? visit.started : isRun ? run.state.since : "")],
      ["Ended", visit && `${readable(visit.ended)} ${visit.ended && "after "}${duration(visit.took)}`],
      ["Source", about.at], ["Decided by", visit?.by], ["Reason", visit?.note], ...Object.entries(visit?.outputs ?? {}),
      ["Remarks", visit?.remarks.join("\n")], ["Text", about.text],
    ])),
    isRun && about.kind !== "ask" ? make("h3", {}, "Log") : "", isRun && about.kind !== "ask" ? log.pre : "",
    about.command && make("h3", {}, "Command"), about.command && make("pre", { tabIndex: 0, ariaLabel: "Command" }, about.command));
  if (isRun && !run.state.has_logs) log.pre.textContent = "No log. The option --logs of rdc run keeps the output of each step.";
  else if (isRun) readLog(log.pre);
  $(`v${chosen.n}`)?.scrollIntoView({ block: "nearest" });
}

async function readLog(pre) {
  const response = await call(`runs/${encodeURIComponent(run.key)}/log/${log.n}?from=${log.from}`), text = await response.text();
  if (log.pre !== pre) return;
  const size = response.ok ? Number(response.headers.get("Log-Size")) : 0, isStart = !log.from && size > CHUNK;
  log.text = isStart ? "…" : (log.text + text).slice(-LONGEST_LOG);
  log.from = isStart ? size - CHUNK : Math.min(log.from + CHUNK, size);
  const follows = pre.scrollTop + pre.clientHeight > pre.scrollHeight - 30;
  if (text) pre.textContent = log.text.replace(ANSI, "");
  if (follows) pre.scrollTop = pre.scrollHeight;
  if (log.from < size) readLog(pre);
  else if (log.n === run.now) setTimeout(() => log.pre === pre && readLog(pre), 400);
  else if (!log.text) pre.textContent = "No output.";
}

// --- The picture and the outline -------------------------------------------------------------------------------------

const SHAPES = new Set(["svg", "g", "a", "polygon", "polyline", "path", "ellipse", "text"]);
const DRAWN = /^(class|points|d|[cr]?[xy]|viewBox|transform|text-anchor|font-size|stroke-dasharray)$/;
const picture = { svg: null, parts: new Map(), size: [1, 1], zoom: 1, fits: true, moved: 0, at: "", rows: new Map() };

function copied(node) { // only known elements and attributes
  const copy = document.createElementNS(SVG, node.localName === "a" ? "g" : node.localName);
  for (const { name, value } of node.attributes) if (DRAWN.test(name)) copy.setAttribute(name, value);
  if (node.id) picture.parts.set(node.id, copy);
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.data);
    else if (SHAPES.has(child.localName)) copy.append(copied(child));
  }
  return copy;
}

async function draw(anyway) {
  const request = new XMLHttpRequest(); // it parses XML without DOMParser, which Trusted Types refuse
  request.open("GET", `/api/picture${anyway ? "?draw=anyway" : ""}`);
  request.setRequestHeader("Authorization", `Bearer ${token}`);
  request.responseType = "document";
  await new Promise((done) => { request.onloadend = done; request.send(); });
  const root = request.status === 200 && request.responseXML?.documentElement;
  picture.parts = new Map();
  picture.svg = root ? copied(root) : null;
  $("sheet").hidden = $("fit").parentNode.hidden = !root;
  $("outline").hidden = Boolean(root);
  if (!root) return outline(request.status);
  picture.svg.setAttribute("role", "img");
  picture.svg.setAttribute("aria-label", `The flow of ${doc.title}`);
  picture.size = picture.svg.getAttribute("viewBox").split(" ").slice(2).map(Number);
  $("sheet").replaceChildren(picture.svg);
  for (const box of doc.boxes) picture.parts.get(box.id)?.addEventListener("click", () => pick(box.step));
  if (picture.fits) fit(READABLE);
  else resize();
}

function outline(status) {
  const boxes = doc.steps.filter((one) => one.kind !== "branch");
  $("draw").hidden = status !== 409;
  $("why").textContent = status === 409 ? `This document has ${doc.boxes.length} boxes, so it is shown as a list.`
    : doc.steps.length ? "There is no picture without Graphviz, so the steps are shown as a list." : "There is nothing to show yet.";
  $("steps").replaceChildren(...boxes.map((one) => row("button", "", "", named(one.id, one.title || one.text), "", one.at, [],
    { type: "button", onclick: () => pick(one.id) })));
  picture.rows = new Map(boxes.map((one, place) => [one.id, $("steps").children[place].firstChild]));
}

function resize() {
  ["width", "height"].forEach((name, axis) => picture.svg.setAttribute(name, picture.size[axis] * picture.zoom));
}

function fit(least = 0.1) {
  const [width, height] = picture.size, { clientWidth, clientHeight } = $("sheet");
  picture.zoom = Math.max(least, Math.min(1.5, (clientWidth - 48) / width, (clientHeight - 88) / height));
  picture.fits = true;
  resize();
}

function zoom(factor) {
  if (!picture.svg) return;
  picture.zoom = Math.max(0.1, Math.min(4, picture.zoom * factor));
  picture.fits = false;
  resize();
}

function badge(part, look, count) {
  const shape = part.querySelector("polygon, path, ellipse"), box = shape.getBBox(), corners = [...(shape.points ?? [])];
  const top = corners.filter((corner) => corner.y < box.y + 1).map((corner) => corner.x);
  const label = count > 1 ? `${SIGNS[look]} ${count}×` : SIGNS[look], width = 12 + 7 * label.length;
  const group = document.createElementNS(SVG, "g"), plate = document.createElementNS(SVG, "rect");
  const text = document.createElementNS(SVG, "text");
  group.setAttribute("class", "badge");
  group.setAttribute("transform", `translate(${top.length ? Math.max(...top) : box.x + box.width - 6}, ${box.y})`);
  const values = { x: -width / 2, y: -9, width, height: 18, rx: look === "failed" ? 4 : 9 };
  for (const [name, value] of Object.entries(values)) plate.setAttribute(name, value);
  text.setAttribute("y", 4);
  text.append(label);
  group.append(plate, text);
  part.append(group);
}

function paint() {
  run.fold();
  other?.fold();
  const { svg, parts, rows } = picture, now = run.now && run.state.step;
  for (const [id, element] of svg ? [] : rows) repaint(element, ...run.look({ step: id }), () => {
    element.firstChild.textContent = SIGNS[run.look({ step: id })[0]] ?? "";
  });
  if (!svg) return;
  svg.classList.toggle("started", run.state.state !== "none");
  svg.classList.toggle("over", run.isOver);
  for (const box of doc.boxes) {
    const part = parts.get(box.id), [look, count] = run.look(box);
    part?.classList.toggle("chosen", chosen?.step === box.step);
    if (part) repaint(part, look, count, () => {
      part.querySelector(".badge")?.remove();
      if (look) badge(part, look, count);
    });
    if (part && box.step === now && picture.at !== now && Date.now() - picture.moved > 5000) show(part);
  }
  for (const arrow of doc.arrows) {
    parts.get(arrow.id)?.classList.toggle("taken", run.taken.has(arrow.id) || (!arrow.source && run.state.state !== "none"));
  }
  picture.at = now;
}

function repaint(element, look, count, draws) {
  if (element.dataset.look === `${look} ${count}`) return;
  element.dataset.look = `${look} ${count}`;
  element.classList.remove(...Object.keys(SIGNS), "seen");
  if (look) element.classList.add(look, "seen");
  draws();
}

function show(part) { // scrolls only the picture, and only if the part isn't visible
  const room = $("sheet").getBoundingClientRect(), place = part.getBoundingClientRect();
  const isVisible = place.top >= room.top && place.bottom <= room.bottom && place.left >= room.left && place.right <= room.right;
  const [left, top] = [place.x - room.x - (room.width - place.width) / 2, place.y - room.y - (room.height - place.height) / 2];
  if (!isVisible) $("sheet").scrollBy(left, top);
}

function pick(id) { // a box, or a step of the list or of the search
  const box = doc.boxes.find((one) => one.step === id), part = box && picture.parts.get(box.id);
  if (part) show(part);
  choose(run.now && run.state.step === id ? { n: run.now, step: id }
    : run.visits.findLast((visit) => visit.step === id) ?? { step: id });
  $("details").scrollIntoView({ block: "nearest" });
}

// --- Choosing, keys and the start ------------------------------------------------------------------------------------

function choosing(title, items, done) {
  const needle = $("needle"), found = $("found");
  const search = () => {
    const words = needle.value.toLowerCase(), fits = items.filter((item) => item.text.toLowerCase().includes(words));
    found.replaceChildren(...fits.slice(0, 100).map(({ text, note, state, value }) => {
      const [look, sign] = LOOKS[state] ?? ["", ""];
      return row("button", look, sign, text, "", "", note && make("span", { className: "then" }, note),
        { type: "button", onclick: () => { $("chooser").close(); done(value); } });
    }));
    $("nothing").hidden = Boolean(fits.length);
  };
  $("asked").textContent = needle.ariaLabel = title;
  needle.value = "";
  needle.oninput = search;
  search();
  $("chooser").showModal();
  needle.focus();
}

function find() {
  const items = doc.steps.filter((one) => one.kind !== "branch").map((one) => (
    { text: named(one.id, one.title || one.text), note: one.at, value: one.id }));
  choosing("Find a step", items, pick);
}

function chooseRun(title, more, done, without) {
  const items = runs.filter((one) => one.key !== without).map((one) => ({ text: `${one.name} ${one.id}`, state: one.state, value: one.key,
    note: [one.state.toUpperCase(), readable(one.began), one.message].filter(Boolean).join(" · ") }));
  choosing(title, [...more, ...items], done);
}

const compareRuns = () => chooseRun("Compare with", [{ text: "No other run", value: null }], compare, run.key);

function arrow(event) {
  const rows = [$("needle"), ...$("found").querySelectorAll("button")], place = rows.indexOf(document.activeElement);
  const next = { ArrowDown: rows[place + 1], ArrowUp: rows[place - 1] }[event.key];
  if (next) next.focus();
  else if (event.key === "Enter" && !place) rows[1]?.click();
  else return;
  event.preventDefault();
}

function key(event) {
  if (event.target.matches("input, textarea") || document.querySelector("dialog[open]")) return;
  if (event.ctrlKey || event.metaKey || event.altKey || !run?.state) return;
  const last = run.now || run.visits.length, n = chosen?.n ?? 0;
  const target = { j: Math.min(last, n + 1), k: Math.max(1, n - 1 || last), Home: 1, End: last }[event.key];
  const act = {
    a: () => $("question").querySelector("input, textarea, button")?.focus(), "/": find, f: () => picture.svg && fit(),
    "+": () => zoom(1.25), "-": () => zoom(0.8), r: () => chooseRun("Choose a run", [], open), c: compareRuns,
    "?": () => $("help").showModal(), Escape: () => chosen ? choose(null) : compare(null),
  }[event.key];
  if (target && last) choose(run.visits[target - 1] ?? { n: target, step: run.state.step }, true);
  else if (act) act();
  else return;
  event.preventDefault();
}

let waits = false;
function schedule() { // at most one update for several events
  if (waits) return;
  waits = true;
  setTimeout(() => {
    waits = false;
    if (!run?.state) return;
    paint();
    for (const part of [head, question, facts, rows, details, tick]) part();
  }, 10);
}

function tick() {
  const time = run?.now && $(`v${run.now}`)?.querySelector(".time"), { state, since } = run?.state ?? {};
  const text = since && state === "running" ? duration(Math.floor(seconds(since))).replace(".0", "") : state;
  if (time && time.textContent !== text) time.textContent = text;
}

async function load() {
  const { drawn } = doc;
  doc = await fetched("document");
  steps = new Map(doc.steps.map((one) => [one.id, one]));
  arrows = Map.groupBy(doc.arrows, (one) => `${one.source} ${one.target}`);
  if (doc.drawn === drawn) return;
  await draw(false);
  run?.forget();
}

async function start() {
  const response = await call("runs");
  if (!response.ok) return connection((await response.json()).error);
  const found = await response.json();
  runs = found.runs;
  await load();
  open(found.chosen);
}

$("question").onsubmit = answer;
$("visits").onscroll = () => { if (list.first && $("visits").scrollTop < 100) older(); };
for (const name of ["wheel", "pointerdown", "keydown"]) {
  $("sheet").addEventListener(name, () => { picture.moved = Date.now(); }, { passive: true });
}
$("chooser").onkeydown = arrow;
for (const dialog of [$("chooser"), $("help")]) dialog.onclick = (event) => event.target === dialog && dialog.close();
$("close").onclick = () => $("help").close();
$("keys").onclick = () => $("help").showModal();
$("find").onclick = find;
$("runs").onclick = () => chooseRun("Choose a run", [], open);
$("fit").onclick = () => fit();
$("plus").onclick = () => zoom(1.25);
$("minus").onclick = () => zoom(0.8);
$("draw").onclick = () => draw(true).then(() => { run.forget(); schedule(); });
addEventListener("keydown", key);
addEventListener("resize", () => picture.svg && picture.fits && fit(READABLE));
setInterval(tick, 1000);
start();
