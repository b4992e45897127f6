// The home page stays current while it is looked at: what happens is loaded again now and then.

const EVERY_MS = 30_000;

async function refresh() {
  if (document.hidden) return;
  const shown = document.getElementById("alive");
  if (shown.contains(document.activeElement)) return; // nobody loses the link that they are at
  try {
    const answer = await fetch("/", { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = document.adoptNode(page.getElementById("alive"));
    localTimes(fresh);
    shown.replaceWith(fresh);
  } catch {
    // No connection: the next time it is asked again.
  }
}

setInterval(refresh, EVERY_MS);
