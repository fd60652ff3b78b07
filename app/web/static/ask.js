// While somebody types: what would be understood, so that a misreading is seen before a minute is spent.
import { call, complain, element } from "/static/api.js";

const PAUSE_MS = 300;
const KEPT = "buildwright.prompt";
const prompt = document.getElementById("prompt");
const chips = document.getElementById("understood");
const leftOpen = document.getElementById("left-open");
const place = prompt.form.querySelector(".problem");
let timer = 0;
let asked = 0;

function words(wish) {
  if (wish.kind === null) return `not understood: “${wish.words}”`;
  const target = typeof wish.target === "number" ? wish.target.toLocaleString("en") : wish.target;
  const kind = wish.kind.replaceAll("_", " ");
  return wish.kind === "exclude" ? `without ${target}` : wish.kind === "with" ? `with ${target}` : `${kind}: ${target}`;
}

function show(found) {
  const known = found.wishes.filter((wish) => wish.kind !== null);
  const lost = found.wishes.filter((wish) => wish.kind === null);
  const shown = [...known.map((wish) => element("li", words(wish))), ...lost.map((wish) => element("li", words(wish), "lost"))];
  chips.replaceChildren(...(shown.length ? shown : [element("li", "nothing that is wished for in particular")]));
  const taken = found.invariants.filter((one) => one.provenance !== "explicit" && one.value !== null && String(one.value) !== "");
  const assumed = taken.map((one) => `${one.field.replaceAll("_", " ")}: ${one.value}`);
  leftOpen.textContent = assumed.length ? `Taken for the rest: ${assumed.join(", ")}.` : "";
  if (found.question) leftOpen.textContent += ` One question will stay: ${found.question.text}`;
}

async function read() {
  const mine = ++asked;
  const text = prompt.value.trim();
  sessionStorage.setItem(KEPT, prompt.value);
  if (text.length < 3) {
    chips.replaceChildren(element("li", "nothing yet: write, or take an example"));
    leftOpen.textContent = "";
    return;
  }
  leftOpen.textContent = "Reading…";
  try {
    const found = await call("POST", "/v1/read", { prompt: text });
    if (mine === asked) { show(found); place.textContent = ""; }
  } catch (problem) {
    if (mine !== asked) return;
    leftOpen.textContent = "";
    complain(place, problem);
  }
}

prompt.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(read, PAUSE_MS);
});
for (const button of document.querySelectorAll("[data-example]")) {
  button.addEventListener("click", () => {
    prompt.value = button.dataset.example;
    prompt.focus();
    read();
  });
}
// What it will cost, said before it is asked for; the rules cost nothing, so nothing is said of them.
const effort = document.getElementById("effort");
const reasoner = document.getElementById("reasoner");
let priced = 0;

async function price() {
  const mine = ++priced;
  const place = document.getElementById("cost");
  const wanted = new URLSearchParams({ effort: effort.value, reasoner: reasoner.value });
  const text = await call("GET", `/v1/estimate?${wanted}`).then((found) => (found.models.length ? found.text : ""), () => "");
  if (mine === priced) place.textContent = text;
}

effort.addEventListener("change", price);
reasoner.addEventListener("change", price);
price();

if (!prompt.value) prompt.value = sessionStorage.getItem(KEPT) || "";
if (prompt.value) read();
