// The timeline of a build from its event stream. Events are numbered, so a reload begins again and misses nothing.
import { call, element } from "/static/api.js";

const box = document.getElementById("watch");
const timeline = document.getElementById("timeline");
const now = document.getElementById("now");
const live = box !== null && box.dataset.over === "no";
const waiting = [];
let list = timeline;
let steps = null;
let phase = "";
let looked = false;

function place(event) {
  // Each round of improvement is a loop of its own: validate → iterate → explore → construct.
  if (event.iteration > 0 && (!list.dataset.round || Number(list.dataset.round) !== event.iteration)) {
    const loop = element("li", "", "phase");
    list = element("ol", "", "timeline");
    list.dataset.round = String(event.iteration);
    loop.append(element("b", `Round ${event.iteration}`), list);
    timeline.append(loop);
  }
  return event.phase === "complete" ? timeline : list;
}

function begin(event) {
  phase = event.phase;
  const item = element("li", "", "phase");
  steps = element("ul");
  item.append(element("b", phase), steps);
  place(event).append(item);
}

const shown = {
  phase: (event) => { begin(event); if (live) look(); },
  step: (event) => {
    if (event.phase && event.phase !== phase) begin({ phase: event.phase, iteration: 0 });
    const count = event.total ? `${event.done} of ${event.total}: ` : "";
    steps.append(element("li", count + (event.label || "")));
    if (!live) return;
    if (phase === "explore") look();
    now.textContent = event.label || phase;
    const progress = document.getElementById("progress");
    progress.max = event.total || 1;
    progress.value = event.done || 0;
  },
  question: (event) => steps && steps.append(element("li", `A question: ${event.text} Until it is answered: ${event.assumed}.`)),
  status: (event) => { if (live && event.status === "queued") now.textContent = "waiting for its turn"; },
  finished: (event) => {
    const why = event.failure ? `: ${event.failure.message}` : "";
    timeline.append(element("li", `${event.outcome || event.status}${why}`, "phase"));
    if (live) location.reload();
  },
};

function flush() {
  // All that came since the last frame is drawn at once, so a burst of events costs one layout.
  for (const event of waiting.splice(0)) (shown[event.type] || (() => {}))(event);
}

function listen() {
  const source = new EventSource(`/v1/builds/${box.dataset.build}/events`);
  let last = 0;
  const take = (message) => {
    const event = JSON.parse(message.data);
    if (event.seq <= last) return;
    last = event.seq;
    waiting.push(event);
    if (waiting.length === 1) requestAnimationFrame(flush);
    if (event.type === "finished") source.close();
  };
  for (const type of Object.keys(shown)) source.addEventListener(type, take);
  source.addEventListener("error", () => { if (live && source.readyState !== EventSource.CLOSED) now.textContent = "connection lost, trying again"; });
}

function race(found) {
  // A bar for each way to build: the damage of its last draft; who left the race before the last rung is struck out.
  if (!found || !found.rungs) return;
  document.getElementById("racing").hidden = false;
  document.getElementById("rung").textContent = `After rung ${found.rungs}: drafts, not finished builds.`;
  const most = Math.max(1, ...found.contenders.map((one) => one.dps || 0));
  document.getElementById("bars").replaceChildren(...found.contenders.map((one) => {
    const item = element("li", "", one.out || one.rungs < found.rungs ? "resolved" : "");
    const bar = element("meter");
    bar.max = most;
    bar.value = one.dps || 0;
    bar.setAttribute("aria-label", `Damage of ${one.name}`);
    const told = one.out || `${Math.round(one.dps || 0).toLocaleString("en")} DPS, ${Math.round(one.ehp || 0).toLocaleString("en")} EHP`;
    item.append(bar, ` ${one.name}: ${told}`);
    return item;
  }));
}

const known = new Map();
async function look() {
  // The race as it stands, and what is in each other's way now: new conflicts are added, gone ones are struck out.
  if (looked) return;
  looked = true;
  try {
    const build = await call("GET", `/v1/builds/${box.dataset.build}`);
    race(build.race);
    const there = new Set(build.conflicts.map((one) => one.id));
    const list = document.getElementById("conflicts");
    for (const one of build.conflicts) {
      if (!known.has(one.id)) {
        if (known.size === 0) list.replaceChildren();
        const item = element("li");
        list.append(item);
        known.set(one.id, item);
      }
      const item = known.get(one.id);
      const badge = element("span", one.severity, `badge ${one.severity === "blocking" ? "bad" : "warn"}`);
      const tried = one.attempts ? ` (tried ${one.attempts} times)` : "";
      item.replaceChildren(badge, ` ${one.message}${tried}`);
      item.classList.remove("resolved");
    }
    for (const [id, item] of known) if (!there.has(id)) item.classList.add("resolved");
  } catch {
    // The next phase looks again.
  } finally {
    looked = false;
  }
}

function span(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

async function budget() {
  const passed = (Date.now() - Date.parse(box.dataset.since)) / 1000;
  document.getElementById("elapsed").textContent = `${span(passed)} so far.`;
  const limits = [];
  if (box.dataset.seconds) limits.push(`${span(Number(box.dataset.seconds) - passed)} left`);
  if (box.dataset.usd) {
    const spent = await call("GET", `/v1/builds/${box.dataset.build}/metrics`).then((found) => Number(found.run.cost_usd || 0), () => 0);
    limits.push(`${(Number(box.dataset.usd) - spent).toFixed(2)} USD left`);
  }
  document.getElementById("left").textContent = limits.length ? `${limits.join(", ")}.` : "No limit is set.";
}

if (live) {
  listen();
  look();
  budget();
  setInterval(budget, 2000);
} else if (box) {
  document.getElementById("story").addEventListener("toggle", listen, { once: true });
}
