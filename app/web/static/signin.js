// The access token goes to the service once, which keeps it in a cookie that scripts cannot read.
import { call } from "/static/api.js";

function on(id, act) {
  const form = document.getElementById(id);
  if (!form) return;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const place = form.querySelector(".problem");
    place.textContent = "";
    try {
      await act(form);
    } catch (problem) {
      place.textContent = problem.status === 401 ? "This token is not valid." : problem.message;
    }
  });
}

on("signin", async (form) => {
  await call("PUT", "/v1/session", undefined, { Authorization: `Bearer ${form.elements.token.value.trim()}` });
  const next = form.dataset.next;
  location.assign(next.startsWith("/") && !next.startsWith("//") && !next.includes("\\") ? next : "/");
});
on("signout", async () => {
  await call("POST", "/signout");
  location.assign("/");
});
