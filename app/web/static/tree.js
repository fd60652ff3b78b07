// The passive tree on a canvas: the whole tree once as paths, above it what the build has; zoom, pan, search, order, diff.
import { call, element } from "/static/api.js";

const RADII = { keystone: 110, notable: 75, socket: 75, start: 120, ascendancy_start: 60 };
const REACH = 16;
const MOST_FOUND = 12;
const data = JSON.parse(document.getElementById("tree-data").textContent);
const canvas = document.getElementById("tree-canvas");
const tip = document.getElementById("tree-tip");
const order = document.getElementById("tree-order");
const diff = document.getElementById("tree-diff");
const pen = canvas.getContext("2d");
const view = { x: 0, y: 0, scale: 0.02 };
let nodes = new Map();
let edges = [];
let still = null;
let marked = new Set();
let asked = 0;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function line(path, edge) {
  const [a, b] = [nodes.get(edge.a), nodes.get(edge.b)];
  path.moveTo(a.x, a.y);
  if (!edge.radius) { path.lineTo(b.x, b.y); return; }
  // The middle of the circle: aside of the middle of the chord, on the side that the turn says.
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const chord = Math.hypot(dx, dy);
  const aside = Math.sqrt(Math.max(0, edge.radius ** 2 - (chord / 2) ** 2)) * (edge.clockwise ? 1 : -1);
  const [x, y] = [a.x + dx / 2 - (aside * dy) / chord, a.y + dy / 2 + (aside * dx) / chord];
  path.arc(x, y, edge.radius, Math.atan2(a.y - y, a.x - x), Math.atan2(b.y - y, b.x - x), !edge.clockwise);
}

function dot(path, node, radius) {
  path.moveTo(node.x + radius, node.y);
  path.arc(node.x, node.y, radius, 0, 2 * Math.PI);
}

function lay() {
  // What never changes is put together once; drawing it again is then four calls.
  still = { lines: new Path2D(), dots: new Path2D() };
  for (const edge of edges) line(still.lines, edge);
  for (const node of nodes.values()) dot(still.dots, node, RADII[node.kind] || 42);
}

function taken() {
  return new Map(data.taken.slice(0, Number(order.value)).filter(([id]) => nodes.has(id)));
}

function paint() {
  asked = 0;
  const size = canvas.getBoundingClientRect();
  const dots = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(size.width * dots), Math.round(size.height * dots)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const zoom = view.scale * dots;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.setTransform(zoom, 0, 0, zoom, width / 2 - view.x * zoom, height / 2 - view.y * zoom);
  pen.strokeStyle = colour("--twig");
  pen.lineWidth = Math.max(14, 0.7 / view.scale);
  pen.stroke(still.lines);
  pen.fillStyle = colour("--range");
  pen.fill(still.dots);
  paintBuild(taken());
}

function paintBuild(mine) {
  const parent = diff && diff.checked ? new Set(data.parent) : null;
  const tints = { 0: colour("--bar"), 1: colour("--good"), 2: colour("--cold") };
  const tint = (id, set) => (parent ? (parent.has(id) ? tints[0] : tints[1]) : tints[set]);
  const lost = parent ? [...parent].filter((id) => nodes.has(id) && !mine.has(id)) : [];
  const start = (id) => nodes.get(id).kind.endsWith("start");
  pen.lineWidth = Math.max(32, 2 / view.scale);
  const paths = new Map();
  for (const edge of edges) {
    const [a, b] = [mine.get(edge.a), mine.get(edge.b)];
    if ((a === undefined && !(b !== undefined && start(edge.a))) || (b === undefined && !(a !== undefined && start(edge.b)))) continue;
    const of = a === undefined || (b !== undefined && b > a) ? edge.b : edge.a;
    const key = tint(of, mine.get(of));
    if (!paths.has(key)) paths.set(key, new Path2D());
    line(paths.get(key), edge);
  }
  for (const [key, path] of paths) { pen.strokeStyle = key; pen.stroke(path); }
  const grown = Math.max(1, 0.045 / view.scale);
  const spot = (id, fill) => {
    const path = new Path2D();
    dot(path, nodes.get(id), (RADII[nodes.get(id).kind] || 42) * grown);
    pen.fillStyle = fill;
    pen.fill(path);
  };
  for (const id of lost) spot(id, colour("--fire"));
  for (const [id, set] of mine) spot(id, data.jewels[id] ? colour("--chaos") : tint(id, set));
  pen.strokeStyle = colour("--focus");
  pen.lineWidth = Math.max(20, 2.5 / view.scale);
  for (const id of marked) {
    const path = new Path2D();
    dot(path, nodes.get(id), Math.max(130, 8 / view.scale));
    pen.stroke(path);
  }
}

function draw() {
  tip.hidden = true;
  if (!asked && still) asked = requestAnimationFrame(paint);
}

function fit(ids) {
  const shown = ids.map((id) => nodes.get(id)).filter(Boolean);
  if (!shown.length) return;
  const [xs, ys] = [shown.map((node) => node.x), shown.map((node) => node.y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const size = canvas.getBoundingClientRect();
  view.x = (left + right) / 2;
  view.y = (top + bottom) / 2;
  view.scale = Math.min(0.3, size.width / (right - left + 2000), size.height / (bottom - top + 2000));
  draw();
}

function zoom(factor, event) {
  const size = canvas.getBoundingClientRect();
  const [dx, dy] = event ? [event.clientX - size.left - size.width / 2, event.clientY - size.top - size.height / 2] : [0, 0];
  const next = Math.min(0.6, Math.max(0.008, view.scale * factor));
  view.x += dx / view.scale - dx / next;
  view.y += dy / view.scale - dy / next;
  view.scale = next;
  draw();
}

function at(event) {
  const size = canvas.getBoundingClientRect();
  const x = view.x + (event.clientX - size.left - size.width / 2) / view.scale;
  const y = view.y + (event.clientY - size.top - size.height / 2) / view.scale;
  let [best, least] = [null, Infinity];
  for (const node of nodes.values()) {
    const distance = Math.hypot(node.x - x, node.y - y) - (RADII[node.kind] || 42);
    if (distance < least) [best, least] = [node, distance];
  }
  return least * view.scale < REACH / 2 ? best : null;
}

function tell(node) {
  tip.hidden = node === null;
  if (node === null) return;
  const place = data.taken.findIndex(([id]) => id === node.id);
  const lines = [...node.mods.map((text) => element("p", text))];
  if (data.jewels[node.id]) lines.unshift(element("p", `Jewel: ${data.jewels[node.id]}`));
  if (place >= 0) lines.push(element("p", `allocated, number ${place + 1}`, "good"));
  tip.replaceChildren(element("b", node.name), ...lines);
  const size = canvas.getBoundingClientRect();
  const x = (node.x - view.x) * view.scale + size.width / 2 + 14;
  const y = (node.y - view.y) * view.scale + size.height / 2 + 14;
  tip.style.left = `${Math.max(4, Math.min(x, size.width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(y, size.height - tip.offsetHeight - 8))}px`;
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (node) => { const all = `${node.name} ${node.mods.join(" ")}`.toLowerCase(); return words.every((word) => all.includes(word)); };
  const mine = new Set(data.taken.map(([id]) => id));
  const found = words.length ? [...nodes.values()].filter(matches) : [];
  found.sort((one, two) => mine.has(two.id) - mine.has(one.id) || one.name.localeCompare(two.name));
  marked = new Set(found.map((node) => node.id));
  const list = document.getElementById("tree-found");
  list.replaceChildren(...found.slice(0, MOST_FOUND).map((node) => {
    const item = element("li");
    const button = element("button", node.name + (mine.has(node.id) ? " ✓" : ""), "plain");
    button.type = "button";
    button.addEventListener("click", () => { Object.assign(view, { x: node.x, y: node.y, scale: Math.max(view.scale, 0.12) }); draw(); tell(node); });
    item.append(button);
    return item;
  }));
  if (found.length > MOST_FOUND) list.append(element("li", `and ${found.length - MOST_FOUND} more, marked in the tree`));
  else if (words.length && !found.length) list.append(element("li", "no such passive"));
  draw();
}

const held = new Map();
canvas.addEventListener("pointerdown", (event) => { held.set(event.pointerId, event); canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointermove", (event) => {
  const before = held.get(event.pointerId);
  if (!before) { tell(at(event)); return; }
  const other = [...held.values()].find((one) => one.pointerId !== event.pointerId);
  if (other) {
    const span = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
    zoom(span(event) / span(before));
  } else {
    view.x -= (event.clientX - before.clientX) / view.scale;
    view.y -= (event.clientY - before.clientY) / view.scale;
  }
  held.set(event.pointerId, event);
  tip.hidden = true;
  draw();
});
for (const type of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(type, (event) => { held.delete(event.pointerId); if (type === "pointerup") tell(at(event)); });
}
canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event); }, { passive: false });
canvas.addEventListener("keydown", (event) => {
  const step = 60 / view.scale;
  const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
  if (moves[event.key]) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; draw(); }
  else if (event.key === "+" || event.key === "=") zoom(1.3);
  else if (event.key === "-") zoom(1 / 1.3);
  else return;
  event.preventDefault();
});
document.getElementById("tree-in").addEventListener("click", () => zoom(1.5));
document.getElementById("tree-out").addEventListener("click", () => zoom(1 / 1.5));
document.getElementById("tree-fit").addEventListener("click", () => fit([...nodes.keys()]));
document.getElementById("tree-search").addEventListener("input", (event) => search(event.target.value));
for (const button of document.querySelectorAll(".treeorder")) {
  button.addEventListener("click", () => {
    order.value = button.dataset.order;
    order.dispatchEvent(new Event("input"));
    document.getElementById("tree").scrollIntoView();
  });
}
order.addEventListener("input", () => { document.getElementById("tree-count").textContent = `${order.value} of ${order.max}`; draw(); });
if (diff) diff.addEventListener("change", draw);
new ResizeObserver(draw).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

async function begin() {
  const started = performance.now();
  try {
    const tree = await call("GET", "/v1/tree");
    const mine = (node) => node.ascendancy === null || node.ascendancy === data.ascendancy;
    nodes = new Map(tree.nodes.filter(mine).map((node) => [node.id, node]));
    edges = tree.edges.filter((edge) => nodes.has(edge.a) && nodes.has(edge.b));
    lay();
    fit(data.taken.map(([id]) => id));
    paint();
    canvas.dataset.ready = String(Math.round(performance.now() - started));
    canvas.dataset.passives = String(tree.nodes.length);
  } catch (problem) {
    document.getElementById("tree-problem").textContent = problem.message;
  }
}

// The tree is large, so it is fetched when somebody is about to look at it.
new IntersectionObserver((seen, watcher) => {
  if (!seen.some((one) => one.isIntersecting)) return;
  watcher.disconnect();
  begin();
}, { rootMargin: "600px" }).observe(canvas);
