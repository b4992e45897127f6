// Shows again, every few seconds, the part of a page that says how far something is.
"use strict";

const delay = () => Number(document.getElementById("progress")?.dataset.refreshS);

async function refresh() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = fresh.getElementById("progress");
    if (part) document.getElementById("progress").replaceWith(part);
  } catch { /* The network may come back. */ }
  if (delay()) setTimeout(refresh, delay() * 1000);
}

if (delay()) setTimeout(refresh, delay() * 1000);
