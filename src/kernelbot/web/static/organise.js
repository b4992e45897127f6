// Shows again, every few seconds, the part of a page that says how far something is. What hasn't changed
// is left alone, with the focus in it.
"use strict";

const shown = () => document.getElementById("progress");

async function refresh() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("progress");
    if (fresh) replace(shown(), fresh);
  } catch { /* The network may come back. */ }
  wait();
}

function replace(old, fresh) {
  const before = [...old.children], after = [...fresh.children];
  if (before.length !== after.length) return old.replaceWith(fresh);
  before.forEach((child, at) => {
    if (child.outerHTML !== after[at].outerHTML) child.replaceWith(after[at]);
  });
}

function wait() {
  const seconds = Number(shown().dataset.refreshS);
  if (seconds) setTimeout(refresh, seconds * 1000);
}

wait();
