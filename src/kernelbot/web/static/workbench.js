// The page to work on: statement, editor and result. Without this script it is a plain form.
import { follow, reportIn } from "./live.js";
import { arrangePanes } from "./panes.js";

const DRAFT_PAUSE_MS = 300;
const byId = (id) => document.getElementById(id);
const bench = byId("bench");
const form = byId("submit-form");
const area = byId("editor");
const beginning = area.value; // with the line ends that browsers give it
const panes = ["statement", "code", "result"].map((name) => byId(`pane-${name}`));
const dividers = ["statement", "result"].map((name) => byId(`divider-${name}`));
const showPane = arrangePanes(bench, panes, dividers, byId("bench-tabs"));
let editor = plainEditor();
let following = new AbortController(); // aborted once another report is shown

keepDraft();
form.addEventListener("submit", send);
form.elements.file.addEventListener("change", openFile);
loadEditor();

/** The textarea, as what the rest of this file needs of an editor. */
function plainEditor() {
  return {
    text: () => area.value,
    setText: (text) => { area.value = text; },
    showPlaces: () => {},
    focus: () => area.focus(),
  };
}

async function loadEditor() {
  let made;
  try {
    const { createEditor } = await import("./editor.js");
    made = createEditor({
      text: area.value,
      language: area.dataset.language,
      onChange: () => area.dispatchEvent(new CustomEvent("typed")),
      onSubmit: () => form.requestSubmit(),
    });
  } catch (error) {
    console.error(error); // the textarea stays
    return;
  }
  const label = byId("code-label");
  label.removeAttribute("for"); // the editor has the name
  label.hidden = area.hidden = true;
  area.after(made.element);
  byId("code-keys").textContent = "Tab indents; Esc, then Tab leaves the editor. Ctrl+Enter submits.";
  const focused = document.activeElement === area;
  editor = made;
  if (focused) editor.focus();
  byId("file-note").textContent = "into the editor";
  const compare = byId("compare");
  compare.hidden = false;
  compare.addEventListener("click", () => {
    const on = compare.getAttribute("aria-pressed") !== "true";
    compare.setAttribute("aria-pressed", String(on));
    editor.compare(on ? beginning : null);
  });
}

/** What is typed stays in this browser, until its author begins again. */
function keepDraft() {
  if (!area.dataset.draft) return; // what was refused is shown as it was sent
  const key = `draft:${area.dataset.draft}`;
  const note = byId("draft");
  const offer = byId("draft-offer");
  const kept = readDraft(key);
  let timer = null;
  const save = () => {
    clearTimeout(timer);
    timer = null;
    const text = editor.text();
    try {
      if (text === beginning) localStorage.removeItem(key);
      else localStorage.setItem(key, text);
    } catch {
      localStorage.removeItem(key); // it is too large to keep
    }
  };
  const typed = () => {
    clearTimeout(timer);
    timer = setTimeout(save, DRAFT_PAUSE_MS);
  };
  area.addEventListener("input", typed);
  area.addEventListener("typed", typed);
  addEventListener("pagehide", () => { if (timer !== null) save(); });
  if (kept !== null && kept !== beginning) {
    if ("chosen" in area.dataset) offer.hidden = false;
    else open(kept);
  }
  byId("draft-back").addEventListener("click", () => open(kept));
  byId("starter").addEventListener("click", () => {
    editor.setText(beginning);
    save();
    note.hidden = true;
    editor.focus();
  });

  function open(text) {
    editor.setText(text);
    offer.hidden = true;
    note.hidden = false;
  }
}

function readDraft(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // the browser keeps nothing for this site
  }
}

/** A file goes into the editor, unless it isn't UTF-8 text: then it is sent as it is, and refused. */
async function openFile() {
  const file = form.elements.file.files[0];
  if (!file) return;
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return;
  }
  editor.setText(text.replace(/\r\n?/g, "\n"));
  form.elements.name.value = file.name;
  form.elements.file.value = "";
}

async function send(event) {
  event.preventDefault();
  const button = byId("send");
  if (button.disabled) return; // it is on its way
  button.disabled = true;
  refuse("");
  area.value = editor.text();
  try {
    const answer = await fetch(form.action, { method: "POST", body: filled() });
    answered(await answer.text());
  } catch {
    refuse("The server can’t be reached. Your text is still here: submit it again.");
  } finally {
    button.disabled = false;
  }
}

/** The form, with the text as a file under its name: in a field each of its lines would end in two characters,
 * so that a file which is small enough from a disk might be too large from here. */
function filled() {
  const data = new FormData(form);
  const name = form.elements.name.value.trim();
  if (name && !form.elements.file.files.length) {
    data.set("file", new File([area.value], name));
    data.delete("code");
  }
  return data;
}

function answered(text) {
  const page = reportIn(text);
  if (page) {
    form.elements.form.value = newFormName();
    showResult(page);
    return;
  }
  const other = new DOMParser().parseFromString(text, "text/html");
  const name = other.querySelector("#submit-form [name=form]");
  if (name) form.elements.form.value = name.value; // another one, if this one has its submission
  const said = other.querySelector("[role=alert]:not([hidden])") || other.querySelector("main");
  refuse(said ? said.textContent.replace(/\s+/g, " ").trim() : "The answer can’t be read.");
}

function refuse(why) {
  const place = byId("refused");
  place.textContent = why;
  place.hidden = !why;
}

/** Another form: the same one sent again would be the same submission. */
function newFormName() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function showResult({ report, title }) {
  const link = document.createElement("a");
  link.href = report.dataset.page;
  link.textContent = title.replace(/^.* · (?=Submission)/, "").replace(/ · KernelBot$/, "");
  const heading = document.createElement("p");
  heading.className = "result-head";
  heading.append(link);
  following.abort();
  following = new AbortController();
  byId("result").replaceChildren(heading, report);
  editor.showPlaces([]);
  showPane(2);
  panes[2].scrollTop = 0;
  if (!byId("bench-tabs").hidden) bench.scrollIntoView();
  follow(report, showPlaces, following.signal);
}

/** Mark what the report says of lines in the editor, and lead from there to them. */
function showPlaces(report) {
  const found = [...report.querySelectorAll("#places [data-line]")].map((item) => ({
    line: Number(item.dataset.line),
    column: Number(item.dataset.column || 0),
    message: item.dataset.message,
    severity: item.dataset.severity,
  }));
  editor.showPlaces(found);
  for (const link of report.querySelectorAll("#places a")) {
    link.addEventListener("click", (event) => {
      if (!editor.goTo) return;
      event.preventDefault();
      showPane(1);
      editor.goTo(Number(link.parentElement.dataset.line));
    });
  }
}
