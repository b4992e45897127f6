// Zooms flame graphs: into a frame by a click or Enter, out of it by Esc, its own click or the button.

const SVG = "http://www.w3.org/2000/svg";
const EDGE = 0.01; // Percent: places are rounded.
const HOW = "A click or Enter zooms into a frame, the arrow keys go from frame to frame, Esc shows all of it again.";

for (const graph of document.querySelectorAll("svg.flame")) zoomable(graph);

function zoomable(graph) {
  const frames = [...graph.querySelectorAll(":scope > svg")].map(frame);
  if (!frames.length) return;
  const { status, row, button } = controls(graph);
  let zoomed = null;

  const show = (one) => {
    zoomed = one;
    for (const each of frames) place(each, one);
    row.hidden = one === null;
    status.textContent = one === null ? HOW : `Zoomed into ${one.title}. Esc shows all of it again.`;
    focusable(one ?? frames[0]);
  };
  const focusable = (one) => {
    for (const each of frames) each.element.setAttribute("tabindex", each === one ? "0" : "-1");
  };
  const choose = (one) => {
    const leaves = zoomed !== null && (one === zoomed || (one.y === 0 && one.y < zoomed.y));
    show(leaves ? null : one);
    focusable(one);
    one.element.focus();
  };

  graph.setAttribute("role", "group");
  graph.classList.add("zoomable");
  for (const one of frames) {
    one.element.setAttribute("role", "button");
    one.element.addEventListener("click", () => choose(one));
    one.element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") choose(one);
      else if (event.key === "Escape" && zoomed !== null) {
        show(null);
        focusable(one);
      } else {
        const next = neighbour(frames.filter(isShown), one, event.key);
        if (!next) return;
        focusable(next);
        next.element.focus();
      }
      event.preventDefault();
    });
  }
  button.addEventListener("click", () => {
    show(null);
    frames[0].element.focus();
  });
  show(null);
}

/** A frame as the server has drawn it, in percent of the width. */
function frame(element) {
  const title = element.querySelector("title").textContent;
  const label = element.querySelector("text");
  return {
    element,
    title,
    name: title.match(/^([^]*): [^:]*, [\d.]+ %; /)?.[1] ?? title,
    label: label ? label.textContent : "",
    x: parseFloat(element.getAttribute("x")),
    y: parseFloat(element.getAttribute("y")),
    width: parseFloat(element.getAttribute("width")),
  };
}

/** Draws a frame as wide as it is within another one; null: within the whole graph. */
function place(one, within) {
  const { x: left, width: whole, y } = within ?? { x: 0, width: 100, y: 0 };
  const calls = one.y < y && one.x <= left + EDGE && one.x + one.width >= left + whole - EDGE;
  const called = one.y >= y && one.x >= left - EDGE && one.x + one.width <= left + whole + EDGE;
  one.element.setAttribute("display", calls || called ? "inline" : "none");
  one.element.setAttribute("x", `${calls ? 0 : (100 * (one.x - left)) / whole}%`);
  one.element.setAttribute("width", `${calls ? 100 : (100 * one.width) / whole}%`);
  write(one, within === null ? one.label : one.name);
}

function write(one, words) {
  let label = one.element.querySelector("text");
  if (!label && words) {
    label = document.createElementNS(SVG, "text");
    label.setAttribute("x", "3");
    label.setAttribute("y", "14");
    one.element.append(label);
  }
  if (label) label.textContent = words;
}

function isShown(one) {
  return one.element.getAttribute("display") !== "none";
}

/** The frame that an arrow key leads to; undefined: there is none, or it is another key. */
function neighbour(shown, from, key) {
  const row = (y) => shown.filter((one) => one.y === y).sort((a, b) => a.x - b.x);
  const same = row(from.y);
  if (key === "ArrowLeft") return same[same.indexOf(from) - 1];
  if (key === "ArrowRight") return same[same.indexOf(from) + 1];
  const holds = (outer, inner) =>
    outer.x <= inner.x + EDGE && outer.x + outer.width >= inner.x + inner.width - EDGE;
  const rows = [...new Set(shown.map((one) => one.y))].sort((a, b) => a - b);
  const at = rows.indexOf(from.y);
  if (key === "ArrowUp") return row(rows[at - 1]).find((one) => holds(one, from));
  if (key === "ArrowDown") return row(rows[at + 1]).find((one) => holds(from, one));
  return undefined;
}

function controls(graph) {
  const status = document.createElement("p");
  status.className = "quiet";
  status.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.textContent = "Whole graph";
  const row = document.createElement("p");
  row.className = "row";
  row.append(button);
  graph.closest(".scroll").after(status, row);
  return { status, row, button };
}
