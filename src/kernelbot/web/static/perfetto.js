// Hands a trace to Perfetto's page, in another window of this browser: no server gets the file.

const PERFETTO = "https://ui.perfetto.dev";
const PING_MS = 100;
const PATIENCE_MS = 30000;
const said = document.getElementById("perfetto");

for (const button of document.querySelectorAll("button[data-trace]")) {
  button.hidden = false;
  button.addEventListener("click", () => open(button.dataset));
}

async function open({ trace, name, title }) {
  // Before anything is awaited: browsers refuse a window that no click has asked for.
  const target = window.open(PERFETTO);
  if (!target) {
    said.textContent = "Your browser refused the window: allow this page to open some, or download the file.";
    return;
  }
  said.textContent = `Handing ${name} to Perfetto …`;
  try {
    const [buffer] = await Promise.all([load(trace), ready(target)]);
    // localOnly: Perfetto offers no upload of it.
    const perfetto = { buffer, title, fileName: name, localOnly: true };
    target.postMessage({ perfetto }, PERFETTO, [buffer]);
    said.textContent = `Perfetto has ${name}. It may ask whether you trust this site.`;
  } catch (error) {
    said.textContent = `${error.message} Download the file and open it there.`;
  }
}

async function load(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error("The file can’t be loaded.");
  return answer.arrayBuffer();
}

/** Resolves once Perfetto's page answers; it hears nothing while it loads. */
function ready(target) {
  return new Promise((resolve, reject) => {
    const end = (finish) => {
      clearInterval(timer);
      clearTimeout(limit);
      window.removeEventListener("message", hear);
      finish();
    };
    const hear = (event) => {
      if (event.source === target && event.origin === PERFETTO && event.data === "PONG") end(resolve);
    };
    const timer = setInterval(() => target.postMessage("PING", PERFETTO), PING_MS);
    const limit = setTimeout(() => end(() => reject(new Error("Perfetto’s page doesn’t answer."))), PATIENCE_MS);
    window.addEventListener("message", hear);
  });
}
