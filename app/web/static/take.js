// The share code goes to the clipboard once it is proven to be the file, byte for byte.
const button = document.getElementById("copy-code");

async function bytes(stream) {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpacked(code) {
  const packed = Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  return bytes(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate")));
}

async function copied(text, told) {
  const place = document.getElementById("copied");
  const problem = document.getElementById("not-copied");
  problem.textContent = "";
  place.textContent = "";
  try {
    await navigator.clipboard.writeText(text);
    place.textContent = told;
  } catch {
    problem.textContent = "The browser does not let this page copy; take it from the field below.";
  }
}

if (button) {
  const here = `/v1/builds/${button.dataset.build}`;
  const field = document.getElementById("code");
  const fetched = (path) => fetch(path).then((answer) => { if (!answer.ok) throw new Error(); return answer; });
  const code = async () => {
    if (!field.value) field.value = await (await fetched(`${here}/code`)).text();
    return field.value;
  };
  field.closest("details").addEventListener("toggle", code, { once: true });
  button.addEventListener("click", async () => {
    try {
      const [text, file] = await Promise.all([code(), fetched(`${here}/build.xml`).then((answer) => bytes(answer.body))]);
      const inside = await unpacked(text);
      if (inside.length !== file.length || inside.some((byte, at) => byte !== file[at])) throw new Error();
      await copied(text, "Copied. The code holds the file, byte for byte.");
    } catch {
      document.getElementById("not-copied").textContent = "The share code could not be fetched and proven. Nothing was copied.";
    }
  });
  document.getElementById("copy-link").addEventListener("click", () => copied(location.href.split("#")[0], "Link copied."));
}
