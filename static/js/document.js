// One document: boxes and fields point at each other; the page follows while the document is read or reviewed.

import { listen } from "./live.js";

const GATHER = 300;

const whole = document.getElementById("document");
let timer = 0;

function activate(fieldId, from) {
  for (const element of whole.querySelectorAll(".is-active")) element.classList.remove("is-active");
  for (const button of whole.querySelectorAll(".field-name[aria-pressed]")) {
    button.setAttribute("aria-pressed", String(button.dataset.field === fieldId));
  }
  const field = document.getElementById(fieldId);
  const box = whole.querySelector(`.box[data-field="${fieldId}"]`);
  field?.classList.add("is-active");
  box?.classList.add("is-active");
  const other = from === "box" ? field : box;
  other?.scrollIntoView({ block: "nearest", behavior: "smooth" });
}

whole.addEventListener("click", (event) => {
  const target = event.target.closest("[data-field]");
  if (target) activate(target.dataset.field, target.matches(".box") ? "box" : "field");
});

whole.addEventListener("focusin", (event) => {
  const target = event.target.closest("[data-field]");
  if (target) activate(target.dataset.field, target.matches(".box") ? "box" : "field");
});

whole.addEventListener("keydown", (event) => {
  const box = event.target.closest(".box");
  if (!box || (event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  activate(box.dataset.field, "box");
  document.querySelector(`#${box.dataset.field} .field-name`)?.focus();
});

async function refresh() {
  timer = 0;
  const response = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" }).catch(() => null);
  if (!response?.ok) return;
  const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = parsed.getElementById("document");
  if (!fresh || fresh.innerHTML === whole.innerHTML) return;
  const active = whole.querySelector(".field.is-active")?.id;
  const opened = [...whole.querySelectorAll(".field:has(details[open])")].map((field) => field.id);
  const focused = document.activeElement?.dataset?.field;
  whole.replaceChildren(...fresh.childNodes);
  for (const id of opened) document.querySelector(`#${id} details`)?.setAttribute("open", "");
  if (active) activate(active, "none");
  if (focused) whole.querySelector(`[data-field="${focused}"]`)?.focus({ preventScroll: true });
}

const ids = new Set([Number(whole.dataset.id), Number(whole.dataset.readAs)]);
listen(whole.dataset, (event) => {
  if (ids.has(event.payload.document_id)) timer ||= setTimeout(refresh, GATHER);
});
