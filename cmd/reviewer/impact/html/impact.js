"use strict";
const { kinds, sessions } = JSON.parse(document.getElementById("data").textContent);
const signs = { unchanged: "=", tightened: "▲", loosened: "▼", maybe: "◆", unknown: "?", incomparable: "≠" };
// What stands for a rule where none decided.
const noRule = ["(scores)", "(others)"];
const form = document.getElementById("filters");
const names = ["state", "transition", "rule", "tool", "workspace"];

// node makes an element. Texts are children, and never markup.
function node(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

const textOf = (value) => (value === undefined || value === "" ? "not known" : value);

function time(ms) {
  const at = new Date(ms);
  return isNaN(at) ? "not known" : at.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

const count = (n) => n.toLocaleString("en-US");
const counted = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

function rulesOf(step) {
  const rules = [...(step.from_rules || []), ...(step.to_rules || [])];
  return rules.length ? rules : noRule;
}

// ---- What is there to choose from

const workspaces = new Map(sessions.map((s) => [s.session, s.workspace]));
const steps = sessions.flatMap((s) => s.steps);
const keyOf = (x) => [x.phase, x.state, x.from, x.to].join(" ");
const features = {
  state: (step) => [step.state],
  transition: (step) => [(step.from || "") + ">" + (step.to || "")],
  rule: rulesOf,
  tool: (step) => [step.tool || ""],
  workspace: (step) => [workspaces.get(step.session) || ""],
};

function fill() {
  for (const name of names) {
    const counts = new Map();
    for (const step of steps) {
      for (const v of new Set(features[name](step))) if (v !== "") counts.set(v, (counts.get(v) || 0) + 1);
    }
    for (const k of kinds) {
      for (const v of name === "rule" ? [k.rule] : features[name](k.witness)) if (v !== "" && !counts.has(v)) counts.set(v, 0);
    }
    for (const v of [...counts.keys()].sort()) addOption(name, v, counts.get(v));
  }
}

function addOption(name, value, n) {
  const shown = name === "transition" ? value.split(">").map(textOf).join(" → ") : value;
  form.elements[name].append(node("option", { value }, n ? `${shown} (${count(n)})` : shown));
}

// ---- Filters

// A kind stands for the steps that are like it, and for its example.
const likeKind = new Map();
for (const step of steps) {
  const key = keyOf(step);
  if (!likeKind.has(key)) likeKind.set(key, []);
  likeKind.get(key).push(step);
}
const stepsOf = (k) => [k.witness, ...(likeKind.get(keyOf(k)) || []).filter((s) => noRule.includes(k.rule) || rulesOf(s).includes(k.rule))];

let fits = () => true;
let filtered = false;

function readFilters() {
  const chosen = names.map((n) => [n, form.elements[n].value]).filter(([, v]) => v !== "");
  const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hypothetical = form.elements.hypothetical.checked;
  filtered = chosen.length > 0 || words.length > 0 || !hypothetical;
  fits = (step) =>
    (hypothetical || !step.after) && chosen.every(([n, v]) => features[n](step).includes(v)) && (words.length === 0 || hasWords(step, words));
  const state = new URLSearchParams(chosen);
  if (words.length) state.set("words", form.elements.words.value);
  if (!hypothetical) state.set("hypothetical", "no");
  return state.toString();
}

function hasWords(step, words) {
  const text = [step.resource, step.reason, step.missing, step.id, step.call, step.session, step.tool, step.agent, ...features.workspace(step), ...rulesOf(step)]
    .join("\n").toLowerCase();
  return words.every((w) => text.includes(w));
}

function kindFits(k) {
  const rule = form.elements.rule.value;
  return stepsOf(k).some((s) => fits(s) || (k.rule === rule && fitsButRule(s)));
}

// The rule of a kind need not be among those that its example names.
function fitsButRule(step) {
  return fits({ ...step, from_rules: [form.elements.rule.value], to_rules: [] });
}

function apply() {
  const hash = readFilters();
  let shownSessions = 0, shownSteps = 0;
  for (const e of document.querySelectorAll("[data-session]")) {
    const n = sessions[e.dataset.session].steps.filter(fits).length;
    e.hidden = filtered && n === 0;
    shownSteps += n;
    shownSessions += e.hidden ? 0 : 1;
    update(e);
  }
  for (const e of document.querySelectorAll("[data-kind]")) e.hidden = filtered && !kindFits(kinds[e.dataset.kind]);
  for (const list of document.querySelectorAll(".listed")) {
    list.querySelector(".nothing").hidden = list.querySelector("[data-kind]:not([hidden]), [data-session]:not([hidden])") !== null;
  }
  for (const b of document.querySelectorAll("[data-filter]")) b.setAttribute("aria-pressed", form.elements[b.dataset.filter].value === b.dataset.value);
  tell(`${count(shownSessions)} of ${counted(sessions.length, "session")}, ${count(shownSteps)} of ${counted(steps.length, "listed decision")}`);
  history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
}

// The bar at the window's end tells who pressed a name far from the filters that
// something is filtered.
const bar = node("div", { class: "filter-bar", hidden: "" }, node("span", {}),
  node("button", { type: "button" }, "Go to the changes"), node("button", { type: "button" }, "Show all"));

function tell(how) {
  document.getElementById("status").textContent =
    how + (filtered ? " match. The tables still count everything." : ". Choose above, or click a cell, a state or a name in any table.");
  bar.hidden = !filtered;
  bar.firstChild.textContent = "Filtered: " + how;
}

function startBar() {
  const [, go, all] = bar.children;
  go.addEventListener("click", () => document.getElementById("changes").scrollIntoView());
  all.addEventListener("click", () => form.reset());
  document.querySelector("main").append(bar);
}

// A link to the page may say what to show.
function readHash() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const name of names) if (state.has(name)) choose(name, state.get(name));
  form.elements.words.value = state.get("words") || "";
  form.elements.hypothetical.checked = state.get("hypothetical") !== "no";
}

function choose(name, value) {
  const list = form.elements[name];
  if (value !== "" && ![...list.options].some((o) => o.value === value)) addOption(name, value);
  list.value = value;
}

// ---- A session's time line

// shown holds what is drawn of a session: for each step its mark and its row.
const shown = new WeakMap();

function draw(e) {
  if (shown.has(e)) return;
  const s = sessions[e.dataset.session];
  const drawn = s.steps.map((step) => ({ step, mark: mark(s, step), row: row(s, step) }));
  shown.set(e, drawn);
  for (const d of drawn) {
    d.mark.addEventListener("click", () => open(drawn, d, true));
    d.row.firstChild.addEventListener("click", () => open(drawn, d, false));
  }
  const none = node("p", { class: "nothing faint", hidden: "" }, "");
  e.querySelector(".body").replaceChildren(node("div", { class: "time-line" }, legend(), strip(s, drawn)), list(s, drawn), none);
  const first = drawn.find((d) => d.step.id === s.first.id);
  if (first) open(drawn, first, false);
  update(e);
}

const placeOf = (s, index) => (100 * index) / Math.max(s.calls, 1);

function mark(s, step) {
  const e = node("button", { type: "button", tabindex: "-1", class: "mark " + step.state + (step.after ? " hypothetical" : ""), title: brief(step) });
  e.style.left = Math.min(Math.max(placeOf(s, step.index), 0), 99.6) + "%";
  e.style.width = Math.min(placeOf(s, 1) * 0.8, 3) + "%";
  return e;
}

const brief = (step) => `${signs[step.state] || "?"} call ${count(step.index + 1)}: ${step.tool || step.phase} ${step.resource || ""}\n${textOf(step.from)} → ${textOf(step.to)}`;

function strip(s, drawn) {
  const e = node("div", { class: "strip", role: "group", "aria-label": "The session's calls; the list below has the same" }, ...drawn.map((d) => d.mark));
  const at = placeOf(s, Math.min(s.first.index + 1, s.calls));
  const rest = node("div", { class: "hypothetical-part" });
  rest.style.left = at + "%";
  const first = node("span", { class: "label above" }, `first difference: call ${count(s.first.index + 1)}`);
  first.style[at > 50 ? "right" : "left"] = (at > 50 ? 100 - at : at) + "%";
  e.append(rest, first, node("span", { class: "label below" }, "call 1"), node("span", { class: "label below end" }, "call " + count(s.calls)));
  if (at < 70) {
    const behind = node("span", { class: "label below" }, "hypothetical from here");
    behind.style.left = Math.max(at, 10) + "%";
    e.append(behind);
  }
  return e;
}

function legend() {
  const e = node("p", { class: "legend" });
  for (const [state, what] of [["tightened", "stricter (upper part)"], ["loosened", "looser (lower part)"], ["maybe", "maybe (middle)"], ["unchanged", "the same, and not simply allowed (small)"]]) {
    e.append(node("span", { class: "state " + state }, `${signs[state]} ${what}`));
  }
  return e;
}

function list(s, drawn) {
  const e = node("ol", { class: "steps", "aria-label": "Decisions of the session" });
  let behind = false;
  for (const d of drawn) {
    if (d.step.after && !behind) {
      behind = true;
      e.append(node("li", { class: "divider" }, "Hypothetical from here on: after the different answer the session would have continued differently. What follows is what would be decided if it had continued anyway."));
    }
    e.append(d.row);
  }
  if (s.more) e.append(node("li", { class: "divider" }, `${count(s.more)} more are counted but not listed.`));
  e.addEventListener("keydown", move);
  return e;
}

function row(s, step) {
  const about = node("span", { class: "about" }, node("span", { class: "tool" }, step.tool || step.phase), " ", node("code", {}, step.resource || ""));
  const button = node("button", { type: "button", class: "step", "aria-expanded": "false" },
    node("span", { class: "faint" }, "#" + count(step.index + 1)),
    node("span", { class: "state " + step.state }, `${signs[step.state] || "?"} ${step.state}`),
    node("span", { class: "arrow" }, `${textOf(step.from)} → ${textOf(step.to)}`),
    about);
  return node("li", step.after ? { class: "hypothetical" } : {}, button);
}

// open shows both sides of a step, or folds them away again.
function open(drawn, d, always) {
  const button = d.row.firstChild;
  const on = always || button.getAttribute("aria-expanded") === "false";
  button.setAttribute("aria-expanded", on);
  if (on && !d.row.querySelector(".panel")) d.row.append(panel(d.step));
  d.row.querySelector(".panel").hidden = !on;
  for (const other of drawn) other.mark.classList.toggle("chosen", other === d && on);
  if (!always) return;
  d.row.hidden = false;
  d.row.scrollIntoView({ block: "nearest" });
  button.focus({ preventScroll: true });
}

function panel(step) {
  const facts = node("dl", {});
  for (const [name, value] of [["Reason", step.reason], ["Not known", step.missing], ["What", step.resource && node("code", {}, step.resource)], ["Time", time(step.time)], ["Phase", step.phase], ["Agent", step.agent],
    ["Call", step.call], ["Record", step.id], ["Standing", step.after ? "hypothetical: after the first difference of the session" : ""]]) {
    if (value) facts.append(node("dt", {}, name), node("dd", {}, value));
  }
  return node("div", { class: "panel" }, node("div", { class: "sides" }, side("Baseline", step.from, step.from_rules), side("Candidate", step.to, step.to_rules)), facts);
}

function side(name, verdict, rules) {
  const list = node("ul", {}, ...(rules || []).map((r) => node("li", {}, node("code", {}, r))));
  return node("div", { class: "side" }, node("h4", {}, name), node("span", { class: "verdict" }, textOf(verdict)), rules && rules.length ? list : node("div", { class: "faint" }, "no rule fired"));
}

// update shows which steps of a drawn session fit the filters.
function update(e) {
  const drawn = shown.get(e);
  if (!drawn) return;
  let hidden = 0;
  for (const d of drawn) {
    const out = !fits(d.step);
    d.row.hidden = out;
    d.mark.classList.toggle("out", out);
    hidden += out ? 1 : 0;
  }
  const none = e.querySelector(".body > .nothing");
  none.hidden = hidden === 0;
  none.textContent = `${count(hidden)} of ${count(drawn.length)} do not match the filters.`;
}

// move goes from step to step with the arrow keys.
function move(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.classList.contains("step")) return;
  const all = [...event.currentTarget.querySelectorAll("li:not([hidden]) > .step")];
  const next = all[all.indexOf(event.target) + step];
  if (next) next.focus();
  event.preventDefault();
}

// ---- Wiring

function start() {
  form.hidden = false;
  fill();
  startBar();
  readHash();
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => { readHash(); apply(); });
  document.addEventListener("click", (event) => {
    const b = event.target.closest("[data-filter]");
    if (!b) return;
    choose(b.dataset.filter, b.getAttribute("aria-pressed") === "true" ? "" : b.dataset.value);
    apply();
  });
  for (const e of document.querySelectorAll("[data-session]")) e.addEventListener("toggle", () => e.open && draw(e));
  apply();
}

if (form) start();
