// Panes side by side whose widths are dragged, also with the keyboard; on narrow screens, tabs.

const LEAST = 15; // per cent of the width that a pane keeps
const STEP = 2;
const KEY = "bench-widths";
const WIDE = "(min-width: 64rem)";

/** `panes`: elements in their order; `dividers`: those between them; `tabs`: where the tabs go. The
 * answer shows one of them, by number. */
export function arrangePanes(bench, panes, dividers, tabs) {
  const widths = loadWidths(panes.length);
  const names = panes.map((pane) => pane.querySelector("h2").textContent);
  const buttons = names.map((name, index) => newTab(name, panes[index]));
  tabs.append(...buttons);
  const wide = matchMedia(WIDE);
  let shown = 1;

  function show(index, focus = false) {
    shown = index;
    if (wide.matches) {
      panes.forEach((pane) => { pane.hidden = false; });
      return;
    }
    panes.forEach((pane, number) => { pane.hidden = number !== index; });
    buttons.forEach((button, number) => {
      button.setAttribute("aria-selected", String(number === index));
      button.tabIndex = number === index ? 0 : -1;
    });
    if (focus) buttons[index].focus();
  }

  function arrange() {
    tabs.hidden = wide.matches;
    tabs.setAttribute("role", "tablist");
    tabs.setAttribute("aria-label", "Parts of this page");
    panes.forEach((pane, index) => {
      if (wide.matches) {
        pane.removeAttribute("role");
        pane.setAttribute("aria-labelledby", `head-${pane.id.replace("pane-", "")}`);
      } else {
        pane.setAttribute("role", "tabpanel");
        pane.setAttribute("aria-labelledby", buttons[index].id);
      }
    });
    dividers.forEach((divider) => { divider.hidden = !wide.matches; });
    show(shown);
  }

  buttons.forEach((button, index) => {
    button.addEventListener("click", () => show(index));
    button.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      show((index + by + panes.length) % panes.length, true);
    });
  });
  dividers.forEach((divider, index) => divide(bench, divider, index, widths, names));
  setWidths(bench, dividers, widths);
  wide.addEventListener("change", arrange);
  bench.classList.add("arranged");
  arrange();
  return show;
}

function newTab(name, pane) {
  const button = document.createElement("button");
  button.type = "button";
  button.id = `tab-${pane.id}`;
  button.textContent = name;
  button.setAttribute("role", "tab");
  button.setAttribute("aria-controls", pane.id);
  return button;
}

function divide(bench, divider, index, widths, names) {
  divider.tabIndex = 0;
  divider.setAttribute("role", "separator");
  divider.setAttribute("aria-orientation", "vertical");
  divider.setAttribute("aria-label", `Width of ${names[index]}`);
  divider.setAttribute("aria-valuemin", String(LEAST));
  const dividers = [...bench.querySelectorAll(".divider")];
  const move = (by) => {
    const both = widths[index] + widths[index + 1];
    widths[index] = Math.min(both - LEAST, Math.max(LEAST, widths[index] + by));
    widths[index + 1] = both - widths[index];
    setWidths(bench, dividers, widths);
  };
  divider.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -STEP, ArrowRight: STEP, Home: -100, End: 100 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(by);
    saveWidths(widths);
  });
  divider.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    divider.setPointerCapture(event.pointerId);
    let last = event.clientX;
    const drag = (moved) => {
      move((100 * (moved.clientX - last)) / bench.clientWidth);
      last = moved.clientX;
    };
    const stop = () => {
      divider.removeEventListener("pointermove", drag);
      saveWidths(widths);
    };
    divider.addEventListener("pointermove", drag);
    divider.addEventListener("lostpointercapture", stop, { once: true });
  });
}

function setWidths(bench, dividers, widths) {
  widths.forEach((width, index) => bench.style.setProperty(`--pane-${index}`, `${width}fr`));
  dividers.forEach((divider, index) => {
    const most = widths[index] + widths[index + 1] - LEAST;
    divider.setAttribute("aria-valuemax", String(Math.round(most)));
    divider.setAttribute("aria-valuenow", String(Math.round(widths[index])));
  });
}

function loadWidths(count) {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    const whole = Array.isArray(found) && found.length === count
      && found.every((one) => typeof one === "number" && one >= LEAST)
      && Math.abs(found.reduce((sum, one) => sum + one, 0) - 100) < 1;
    if (whole) return found;
  } catch { /* not ours: as if there were none */ }
  return [27, 43, 30];
}

function saveWidths(widths) {
  try { localStorage.setItem(KEY, JSON.stringify(widths)); } catch { /* full: not kept */ }
}
