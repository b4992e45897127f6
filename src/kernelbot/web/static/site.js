// What all pages have of scripts: the visitor's time zone, time that is left, and copying.
"use strict";

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) {
      time.title = time.textContent;
      time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    }
  }
}
localTimes(document);

const DAY_S = 86400;

function countDown() {
  for (const element of document.querySelectorAll("[data-until]")) {
    const left = Math.floor((Date.parse(element.dataset.until) - Date.now()) / 1000);
    if (!Number.isNaN(left)) element.textContent = timeLeft(left);
  }
}

function timeLeft(seconds) {
  if (seconds <= 0) return "ended";
  const two = (number) => String(number).padStart(2, "0");
  const [days, rest] = [Math.floor(seconds / DAY_S), seconds % DAY_S];
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  if (days === 0) return `${clock} left`;
  return `${days} day${days === 1 ? "" : "s"} ${clock} left`;
}

if (document.querySelector("[data-until]")) {
  countDown();
  setInterval(countDown, 1000);
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
