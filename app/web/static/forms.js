// Forms and buttons that call the service: data-call="POST /v1/…" with the form's fields as JSON, data-then = where to go.
import { call, complain } from "/static/api.js";

async function fields(form) {
  const body = {};
  for (const input of form.elements) {
    if (!input.name || input.disabled) continue;
    if (input.type === "file") {
      if (input.files.length) body[input.name] = await input.files[0].text();
    } else if (input.type === "checkbox") {
      if (input.checked) body[input.name] = true;
    } else if (input.value.trim() !== "") {
      body[input.name] = "number" in input.dataset ? Number(input.value) : input.value.trim();
    }
  }
  // The answer in one's own words goes before a chosen option; a repair without words is a repair of everything.
  if (body.own) { body.answer = body.own; delete body.own; }
  if (body.wish) { body.repair = body.wish; delete body.wish; }
  return body;
}

async function send(source, body) {
  const [method, path] = source.dataset.call.split(" ");
  const place = source.querySelector(".problem") || source.parentElement.querySelector(".problem");
  const button = source.matches("button") ? source : source.querySelector("button:not([type=button])");
  place.textContent = "";
  button.disabled = true;
  try {
    const answer = await call(method, path, body);
    const then = source.dataset.then;
    if (then === "reload") location.reload();
    else location.assign(then.replace("{id}", encodeURIComponent(answer ? answer.id : "")));
  } catch (problem) {
    complain(place, problem);
    button.disabled = false;
  }
}

for (const form of document.querySelectorAll("form[data-call]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await send(form, await fields(form));
  });
}
for (const button of document.querySelectorAll("button[data-call]")) {
  button.addEventListener("click", () => {
    if (!button.dataset.confirm || confirm(button.dataset.confirm)) send(button, undefined);
  });
}
