// Follows a submission that is judged: one `state` event says all that its report shows.

const SITE = "KernelBot";
const GONE_MS = 5000;
const SHOW_MS = 50; // by a timer: no frame is drawn of a page in the background, whose title has to change

/** Follow the report if its submission is being judged; at the end the report is replaced by the
 * finished one, without loading the page again. `ended` is called with it then. Once `signal` is aborted,
 * nothing more is asked or shown. */
export function follow(report, ended = () => {}, signal = new AbortController().signal) {
  if (!report.dataset.live) {
    ended(report);
    return;
  }
  const source = new EventSource(report.dataset.live);
  const clock = startClock(report);
  let latest = null;
  const stop = () => {
    source.close();
    clearInterval(clock.timer);
  };
  signal.addEventListener("abort", stop);
  source.addEventListener("state", (event) => {
    const first = latest === null;
    latest = JSON.parse(event.data);
    if (!first) return; // the history comes at once: only its last state is shown
    setTimeout(() => {
      if (report.isConnected) show(report, latest, clock);
      latest = null;
    }, SHOW_MS);
  });
  source.addEventListener("end", () => {
    stop();
    finish(report, ended, signal);
  });
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) return; // it connects again by itself
    stop();
    setTimeout(() => finish(report, ended, signal), GONE_MS);
  };
  offerNotification(report);
}

function show(report, state, clock) {
  setText(report.querySelector("#headline"), state.headline);
  setText(report.querySelector("#detail"), state.detail);
  document.title = `${state.title} · ${SITE}`;
  clock.set(state.elapsed_s);
  showSteps(report.querySelector("#steps"), state.steps);
  for (const { run, text } of state.runs) {
    setText(report.querySelector(`[data-run="${run}"]`), text);
  }
}

function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

function showSteps(list, steps) {
  if (!list) return;
  while (list.children.length > steps.length) list.lastElementChild.remove();
  steps.forEach((step, index) => {
    const item = list.children[index] || list.appendChild(newStep());
    item.className = step.state;
    item.firstElementChild.value = step.share;
    setText(item.lastElementChild, step.text);
  });
}

function newStep() {
  const item = document.createElement("li");
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.setAttribute("aria-hidden", "true");
  item.append(bar, document.createElement("span"));
  return item;
}

function startClock(report) {
  const element = report.querySelector("#elapsed");
  let began = performance.now() - 1000 * Number(report.dataset.elapsed || 0);
  const tick = () => setText(element, `${duration((performance.now() - began) / 1000)} since it was sent`);
  tick();
  return {
    timer: setInterval(tick, 1000),
    set: (elapsed) => { began = performance.now() - 1000 * elapsed; },
  };
}

function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 90) return `${whole} s`;
  return whole < 5400 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${Math.floor(whole / 60)} min`;
}

async function finish(report, ended, signal) {
  if (signal.aborted) return;
  const { page, isOver } = await loadReport(report.dataset.page);
  if (signal.aborted) return;
  if (page === null) {
    if (isOver) showNothingMore(report);
    else setTimeout(() => finish(report, ended, signal), GONE_MS);
    return;
  }
  const focused = report.contains(document.activeElement);
  report.replaceWith(page.report);
  document.title = page.title;
  const headline = page.report.querySelector(".big");
  if (headline) {
    headline.tabIndex = -1;
    headline.setAttribute("role", "status");
    if (focused) headline.focus();
  }
  if (!page.report.dataset.live) notify(page.title);
  follow(page.report, ended, signal);
}

/** The report of a submission's page as an element of this document; null if it can't be had. `isOver`: nor
 * will it be later: it was deleted, or whoever looks may not see it any more, or is logged out. */
async function loadReport(path) {
  try {
    const answer = await fetch(path, { headers: { Accept: "text/html" } });
    const page = answer.ok ? reportIn(await answer.text()) : null;
    return { page, isOver: answer.ok || answer.status === 403 || answer.status === 404 };
  } catch {
    return { page: null, isOver: false }; // no connection
  }
}

function showNothingMore(report) {
  const headline = "It can’t be shown any more";
  setText(report.querySelector("#headline"), headline);
  setText(report.querySelector("#detail"), "It was deleted, or isn’t for you any more, or you are logged out.");
  for (const part of report.querySelectorAll("#steps, #elapsed, #notify, form")) part.remove();
  document.title = `${headline} · ${SITE}`;
}

/** The report in the text of a page, with the page's title; null if it has none. */
export function reportIn(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const report = page.getElementById("report");
  if (!report) return null;
  const adopted = document.adoptNode(report);
  if (typeof localTimes === "function") localTimes(adopted);
  return { report: adopted, title: page.title };
}

function offerNotification(report) {
  const button = report.querySelector("#notify");
  if (!button || !("Notification" in window) || Notification.permission !== "default") return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await Notification.requestPermission();
    button.hidden = true;
  });
}

function notify(title) {
  if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
  const told = new Notification(title.replace(` · ${SITE}`, ""));
  told.addEventListener("click", () => { window.focus(); });
}

const own = document.querySelector("#report[data-live]");
if (own) follow(own);
