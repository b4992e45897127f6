// The chart of a trend: lines of scores with their intervals over time.

const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const DAY_S = 86400;
const NEAR_PX = 30;
const CLICK_PX = 4; // a pointer that moves further drags
const PADDING = 0.06;
const WIDEST = 0.4; // how far the axis goes beyond the scores for their intervals, as a share of the scores' range
const LEAST_S = 60; // the shortest time that is shown

/** The unit in which times of this size are written: its size in seconds and its name. */
function unitOf(seconds) {
  // What would be rounded up to the next unit is written in that unit: not `1000 µs`.
  return UNITS.find(([size]) => seconds >= 0.9995 * size) || UNITS[UNITS.length - 1];
}

/** A time as tables have it: three digits, or all of those before the point. */
export function duration(seconds) {
  const [size, unit] = unitOf(seconds);
  const value = seconds / size;
  return `${value < 0.9995 ? Number(value.toPrecision(3)) : value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

function moment(seconds) {
  return new Date(1000 * seconds).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** What is written below the axis of time, in the visitor's zone: the date once, then the time of day. */
function timeLabels(plot, splits, axis, space, step) {
  let day = "";
  return splits.map((at) => {
    const time = new Date(1000 * at);
    const date = time.toLocaleDateString(undefined, { day: "numeric", month: "short" });
    if (step >= DAY_S) return date;
    const clock = time.toLocaleTimeString(undefined, {
      hour: "2-digit", minute: "2-digit", ...(step < 60 && { second: "2-digit" }),
    });
    const first = date !== day;
    day = date;
    return first ? `${clock}\n${date}` : clock;
  });
}

export class Chart {
  /** `data`: what `trend.json` answers. */
  constructor(uPlot, figure, data) {
    this.figure = figure;
    this.box = figure.querySelector(".plot");
    this.status = figure.querySelector(".said-of-point");
    this.lines = [data.record, ...data.authors];
    this.points = this.lines
      .flatMap((line, number) => line.points.map((point) => ({ ...point, number })))
      .sort((one, other) => one.at_s - other.at_s);
    this.chosen = null;
    [this.size, this.unit] = unitOf(Math.min(...this.points.map((point) => point.score_s)));
    this.log = Boolean(figure.dataset.log);
    this.whole = this.timeOfAll();
    this.shown = this.whole;
    this.plot = new uPlot(this.options(uPlot), this.aligned(), this.box);
    this.show(this.whole);
    this.showKeys();
    this.listen();
  }

  timeOfAll() {
    const [first, last] = [this.points[0].at_s, this.points[this.points.length - 1].at_s];
    const padding = Math.max(LEAST_S / 2, PADDING * (last - first));
    return { min: first - padding, max: last + padding };
  }

  /** The scores as uPlot takes them: one list of times, and a list of values for each line. */
  aligned() {
    const times = [...new Set(this.points.map((point) => point.at_s))];
    const place = new Map(times.map((at, index) => [at, index]));
    const values = this.lines.map((line) => {
      const column = new Array(times.length).fill(null);
      for (const point of line.points) column[place.get(point.at_s)] = point.score_s / this.size;
      return column;
    });
    return [times, ...values];
  }

  colour(name) {
    return getComputedStyle(this.figure).getPropertyValue(name).trim();
  }

  options(uPlot) {
    const ink = () => this.colour("--soft");
    const grid = { stroke: () => this.colour("--line"), width: 1 };
    const font = "13px system-ui, sans-serif";
    const axis = { stroke: ink, grid, ticks: grid, font };
    const stepped = uPlot.paths.stepped({ align: 1 });
    return {
      ...this.room(),
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        // By itself it swallows a click whose pointer moved by a fraction of a pixel.
        drag: { x: true, y: false, dist: CLICK_PX, click: () => {} },
      },
      scales: {
        x: { time: true, range: (plot, min, max) => this.timeShown(min, max) },
        y: { distr: this.log ? 3 : 1, range: () => this.scoresShown() },
      },
      axes: [
        { ...axis, values: timeLabels, space: 90, size: 46 },
        { ...axis, label: `score in ${this.unit}, less is better`, labelFont: font, labelSize: 22, size: 62 },
      ],
      series: [
        {},
        ...this.lines.map((line, number) => ({
          label: line.name,
          stroke: () => this.colour(`--line-${number}`),
          width: number === 0 ? 4 : 2, // the record is seen below the lines of those who hold it
          spanGaps: true,
          paths: stepped,
          points: { show: true, size: 7, fill: () => this.colour(`--line-${number}`) },
        })),
      ],
      hooks: { draw: [(plot) => this.drawIntervals(plot)] },
    };
  }

  room() {
    const style = getComputedStyle(this.box);
    const across = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const down = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
    return { width: this.box.clientWidth - across, height: this.box.clientHeight - down };
  }

  /** Called before `scoresShown`, whose range depends on it. */
  timeShown(min, max) {
    if (max > min) this.shown = { min, max };
    return [this.shown.min, this.shown.max];
  }

  /** The scores of the time that is shown, and their intervals as far as these don't crowd the scores. */
  scoresShown() {
    const { min, max } = this.shown;
    const inside = this.points.filter((point) => point.at_s >= min && point.at_s <= max);
    const shown = inside.length ? inside : this.points;
    const scores = shown.map((point) => point.score_s / this.size);
    const ends = shown.flatMap((point) => point.ci95_s || []).map((value) => value / this.size);
    const [best, worst] = [Math.min(...scores), Math.max(...scores)];
    const room = WIDEST * (worst - best || worst);
    const low = Math.max(Math.min(best, ...ends), best - room, best / 2);
    const high = Math.min(Math.max(worst, ...ends), worst + room);
    if (this.log) return [low / (1 + PADDING), high * (1 + PADDING)];
    const padding = PADDING * (high - low || high);
    return [Math.max(0, low - padding), high + padding];
  }

  place(point) {
    return [this.plot.valToPos(point.at_s, "x"), this.plot.valToPos(point.score_s / this.size, "y")];
  }

  drawIntervals(plot) {
    const { ctx, bbox } = plot;
    const scale = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = 1.5 * scale;
    const colours = this.lines.map((line, number) => this.colour(`--line-${number}`));
    for (const point of this.points) {
      ctx.strokeStyle = colours[point.number];
      const x = plot.valToPos(point.at_s, "x", true);
      if (point.ci95_s) this.drawInterval(ctx, x, point.ci95_s.map((value) => plot.valToPos(value / this.size, "y", true)), 4 * scale);
      if (this.chosen === point) {
        ctx.beginPath();
        ctx.arc(x, plot.valToPos(point.score_s / this.size, "y", true), 8 * scale, 0, 2 * Math.PI);
        ctx.stroke();
      }
    }
    ctx.restore();
  }

  drawInterval(ctx, x, [low, high], half) {
    ctx.beginPath();
    ctx.moveTo(x, low);
    ctx.lineTo(x, high);
    for (const end of [low, high]) {
      ctx.moveTo(x - half, end);
      ctx.lineTo(x + half, end);
    }
    ctx.stroke();
  }

  showKeys() {
    const keys = this.lines.map((line, number) => {
      const key = document.createElement("span");
      key.className = `key key-${number}`;
      key.textContent = line.name;
      return key;
    });
    this.figure.querySelector(".legend").replaceChildren(...keys);
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    this.figure.querySelector(".zone").textContent =
      `Bars are 95 % intervals. Times are in your time zone, ${zone}.`;
  }

  listen() {
    const over = this.plot.over;
    let pressed = null;
    over.addEventListener("mousedown", (event) => { pressed = [event.clientX, event.clientY]; });
    over.addEventListener("mousemove", (event) => this.choose(this.nearest(event), false));
    over.addEventListener("click", (event) => {
      const [x, y] = pressed || [event.clientX, event.clientY];
      if (Math.hypot(event.clientX - x, event.clientY - y) < CLICK_PX) this.open(this.nearest(event));
    });
    over.addEventListener("dblclick", () => this.show(this.whole));
    this.box.addEventListener("keydown", (event) => this.pressed(event));
    for (const button of this.figure.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.zoom(button.dataset.do));
    }
    new ResizeObserver(() => this.plot.setSize(this.room())).observe(this.box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.plot.redraw(false, true));
  }

  nearest(event) {
    const { left, top } = this.plot.over.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    let [found, distance] = [null, NEAR_PX];
    for (const point of this.points) {
      const [atX, atY] = this.place(point);
      const away = Math.hypot(atX - x, atY - y);
      if (away < distance) [found, distance] = [point, away];
    }
    return found;
  }

  choose(point, byKey) {
    if (point === this.chosen || (point === null && byKey)) return;
    this.chosen = point;
    this.plot.over.classList.toggle("leads", Boolean(point && point.page));
    if (point) this.say(point);
    this.plot.redraw(false, false);
  }

  say(point) {
    const line = this.lines[point.number].name;
    const whose = point.number === 0 ? `${line}, ${point.author}` : line;
    const interval = point.ci95_s ? ` (${point.ci95_s.map(duration).join(" to ")})` : "";
    this.status.textContent = `${whose}: ${duration(point.score_s)}${interval}, ${moment(point.at_s)}, `;
    const name = `submission ${point.submission_id}`;
    if (!point.page) {
      this.status.append(name);
      return;
    }
    const link = document.createElement("a");
    link.href = point.page;
    link.textContent = name;
    this.status.append(link);
  }

  open(point) {
    if (point && point.page) location.href = point.page;
  }

  pressed(event) {
    const zoom = { "+": "in", "-": "out", Escape: "all" }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (zoom) this.zoom(zoom);
    else if (event.key === "ArrowLeft") this.step(-1);
    else if (event.key === "ArrowRight") this.step(1);
    else if (event.key === "Enter") this.open(this.chosen);
    else return;
    event.preventDefault();
  }

  /** Choose the score before or after the chosen one, and show it. */
  step(by) {
    const from = this.chosen ? this.points.indexOf(this.chosen) : by > 0 ? -1 : this.points.length;
    const point = this.points[Math.min(Math.max(from + by, 0), this.points.length - 1)];
    const { min, max } = this.shown;
    const half = (max - min) / 2;
    if (point.at_s < min || point.at_s > max) this.show({ min: point.at_s - half, max: point.at_s + half });
    this.choose(point, true);
  }

  zoom(what) {
    const { min, max } = this.shown;
    const middle = what === "in" && this.chosen ? this.chosen.at_s : (min + max) / 2;
    const half = (max - min) / 2;
    if (what === "in") this.show({ min: middle - half / 2, max: middle + half / 2 });
    else if (what === "out") this.show({ min: middle - 2 * half, max: middle + 2 * half });
    else if (what === "earlier") this.show({ min: min - half, max: max - half });
    else if (what === "later") this.show({ min: min + half, max: max + half });
    else this.show(this.whole);
  }

  /** Show a time, as far as it is within that of all scores, and not less than a minute. */
  show({ min, max }) {
    const span = Math.min(Math.max(max - min, LEAST_S), this.whole.max - this.whole.min);
    const start = Math.min(Math.max((min + max - span) / 2, this.whole.min), this.whole.max - span);
    this.plot.setScale("x", { min: start, max: start + span });
  }
}
