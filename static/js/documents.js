// The list of documents: rows follow the work, filters act at once, files are sent from here.

import { listen } from "./live.js";
import { acceptFiles } from "./uploads.js";

const GATHER = 400;
const MOST_ROWS = 200;
const PAGE_SIZE = 50;

const table = document.getElementById("documents");
const body = table.tBodies[0];
const moved = new Set();
let timer = 0;
let isBusy = false;

async function refresh() {
  timer = 0;
  if (isBusy) return schedule();
  const ids = [...moved].slice(0, MOST_ROWS);
  ids.forEach((id) => moved.delete(id));
  isBusy = true;
  try {
    const address = new URL(table.dataset.rowsUrl, location.href);
    address.search = location.search;
    address.searchParams.set("ids", ids.join(","));
    const response = await fetch(address, { headers: { Accept: "text/html" }, redirect: "error" });
    if (response.ok) place(await response.text());
  } catch {
    // Away for a moment: these rows are asked for again with the next event.
    ids.forEach((id) => moved.add(id));
  } finally {
    isBusy = false;
  }
  if (moved.size) schedule();
}

function schedule() {
  timer ||= setTimeout(refresh, GATHER);
}

function place(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const row of parsed.querySelectorAll("tr")) {
    const old = document.getElementById(row.id);
    if (old) exchange(old, row);
    else if (!row.hasAttribute("data-left") && "firstPage" in table.dataset) insert(row);
  }
  document.getElementById("queue").replaceWith(parsed.getElementById("queue"));
}

function exchange(old, row) {
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(row);
  if (hadFocus) row.querySelector("a").focus({ preventScroll: true });
}

/** Put a new row where its id belongs; one that is older than a full page shows is on a later page. */
function insert(row) {
  const rows = [...body.rows];
  const next = rows.find((one) => Number(one.dataset.id) < Number(row.dataset.id)) ?? null;
  if (!next && rows.length >= PAGE_SIZE) return;
  row.classList.add("is-new");
  body.insertBefore(row, next);
}

listen(table.dataset, (event) => {
  const id = event.payload.document_id;
  if (!id) return;
  moved.add(id);
  schedule();
});

const filters = document.getElementById("filters");
filters.addEventListener("change", () => filters.requestSubmit());

const form = document.getElementById("upload-form");
if (form) {
  acceptFiles(
    document.getElementById("upload"),
    form,
    document.getElementById("uploads"),
    document.getElementById("upload-item"),
  );
}
