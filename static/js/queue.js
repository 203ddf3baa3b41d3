// The queue follows the work: who takes what is seen as it happens; what is ticked stays ticked.

import { listen } from "./live.js";

const GATHER = 400;

const page = document.getElementById("queue-page");
let timer = 0;
let isBusy = false;

async function refresh() {
  timer = 0;
  if (isBusy || isTyping()) return schedule();
  isBusy = true;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("queue-page");
    if (fresh && !isTyping()) place(fresh);
  } catch {
    // Away for a moment: the next event asks again.
  } finally {
    isBusy = false;
  }
}

/** Somebody in the middle of a choice is not disturbed; the page follows as soon as they are done. */
function isTyping() {
  const focused = document.activeElement;
  return page.contains(focused) && (focused.matches("select") || focused.matches('input[type="number"]'));
}

function place(fresh) {
  const ticked = new Set([...page.querySelectorAll('input[name="task"]:checked')].map((box) => box.value));
  const focusedId = page.contains(document.activeElement) ? document.activeElement.id : "";
  const wishes = ["priority", "reviewer"].map((id) => [id, document.getElementById(id)?.value]);
  page.replaceChildren(...fresh.childNodes);
  for (const box of page.querySelectorAll('input[name="task"]')) box.checked = ticked.has(box.value);
  for (const [id, value] of wishes) {
    const field = document.getElementById(id);
    if (field && value !== undefined) field.value = value;
  }
  offerAll();
  if (focusedId) document.getElementById(focusedId)?.focus({ preventScroll: true });
}

/** One box for all of them, ticked as soon as all are. */
function offerAll() {
  const all = document.getElementById("all-tasks");
  if (!all) return;
  const boxes = [...page.querySelectorAll('input[name="task"]')];
  const n = boxes.filter((box) => box.checked).length;
  all.hidden = false;
  all.checked = n === boxes.length;
  all.indeterminate = n > 0 && n < boxes.length;
}

function schedule() {
  timer ||= setTimeout(refresh, GATHER);
}

listen(page.dataset, (event) => {
  if (event.name.startsWith("review_task.") && event.name !== "review_task.saved") schedule();
});

page.addEventListener("change", (event) => {
  if (event.target.form?.id === "filters") event.target.form.requestSubmit();
  if (event.target.id === "all-tasks") {
    for (const box of page.querySelectorAll('input[name="task"]')) box.checked = event.target.checked;
  }
  if (event.target.type === "checkbox") offerAll();
});

offerAll();
