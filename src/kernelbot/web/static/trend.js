// A board's trend, drawn in the browser: intervals, zoom, and the way to each submission. The picture of the
// server stays where this can't be loaded.

const TYPED_MS = 200;
const SOON_PX = "400px"; // how far below the screen the chart is when its library is loaded

function start() {
  const figure = document.getElementById("trend-chart");
  const heading = document.getElementById("trend");
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    draw(figure);
  }, { rootMargin: SOON_PX });
  observer.observe(heading);
  complete(document.getElementById("ranked-authors"));
}

async function draw(figure) {
  try {
    const [{ Chart }, { default: uPlot }, answer] = await Promise.all([
      import("./chart.js"),
      import("./uplot.js"),
      fetch(figure.dataset.source),
      styles("uplot.css"),
      styles("trend.css"),
    ]);
    if (!answer.ok) return;
    const data = await answer.json();
    figure.hidden = false; // its size is the chart's
    new Chart(uPlot, figure, data);
    document.getElementById("trend-picture").hidden = true;
  } catch (error) {
    figure.hidden = true;
    console.warn("The chart can't be drawn, its picture stays:", error);
  }
}

function styles(name) {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL(`./${name}`, import.meta.url).href;
    link.addEventListener("load", resolve);
    link.addEventListener("error", () => reject(new Error(`${name} can't be loaded`)));
    document.head.append(link);
  });
}

/** Offer the names of ranked authors that begin with what is typed. */
function complete(list) {
  let timer = 0;
  for (const field of document.querySelectorAll(`input[list="${list.id}"]`)) {
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => offer(list, field.value), TYPED_MS);
    });
  }
}

async function offer(list, beginning) {
  if (!beginning) return;
  try {
    const answer = await fetch(`${list.dataset.source}&${new URLSearchParams({ beginning })}`);
    if (!answer.ok) return;
    const { names } = await answer.json();
    list.replaceChildren(...names.map((name) => new Option("", name)));
  } catch {
    // No connection: the names that are there stay.
  }
}

start();
