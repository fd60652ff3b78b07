// One way to call the service: JSON in, JSON or text out, problems as errors with the server's own words.

export class Problem extends Error {
  constructor(status, body) {
    super([body.detail || body.title || `The service answered ${status}.`, ...(body.errors || []).map((one) => `${one.place}: ${one.message}`)].join(" "));
    this.status = status;
    this.code = body.code || "";
  }
}

export async function call(method, path, body, headers = {}) {
  const options = { method, headers: { Accept: "application/json", ...headers } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Problem(0, { detail: "The service cannot be reached. Is it running?" });
  }
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
  return answer.status === 204 ? null : answer.json();
}

// Shows a problem where the form has its place for it; asks for access when that is what is missing.
export function complain(place, problem) {
  place.textContent = problem.message;
  if (problem.status !== 401) return;
  const link = document.createElement("a");
  link.href = `/signin?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "Give an access token";
  place.append(" ", link);
}

export function element(name, text, className) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}
