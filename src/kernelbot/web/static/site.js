// All that needs a script: the visitor's time zone, copying, what happens live, drafts.
"use strict";

for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  if (!Number.isNaN(at.getTime())) {
    time.title = time.textContent;
    time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  }
}

for (const button of document.querySelectorAll("button.copy")) {
  const text = button.previousElementSibling.textContent;
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

const live = document.querySelector("[data-live]");
if (live) {
  const source = new EventSource(live.dataset.live);
  const show = (id, text) => {
    const place = document.getElementById(id);
    if (place && place.textContent !== text) place.textContent = text;
  };
  source.addEventListener("run", (event) => {
    const { run, text } = JSON.parse(event.data);
    show(`run-${run}`, text);
  });
  source.addEventListener("queue", (event) => show("queue", JSON.parse(event.data).text));
  source.addEventListener("end", () => {
    source.close();
    location.reload();
  });
}

// What is typed stays in this browser, until somebody begins again with the starter.
const editor = document.querySelector("textarea[data-draft]");
if (editor) {
  const key = `draft:${editor.dataset.draft}`;
  const starter = editor.value;
  const note = document.getElementById("draft");
  const kept = localStorage.getItem(key);
  if (kept && kept !== starter) {
    editor.value = kept;
    note.hidden = false;
  }
  editor.addEventListener("input", () => localStorage.setItem(key, editor.value));
  document.getElementById("starter").addEventListener("click", () => {
    localStorage.removeItem(key);
    editor.value = starter;
    note.hidden = true;
    editor.focus();
  });
}
