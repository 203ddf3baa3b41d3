// Snapshots and their archives follow their taking and their writing.

import { listen } from "./live.js";

const GATHER = 300;

const list = document.getElementById("datasets");
let timer = 0;

async function refresh() {
  timer = 0;
  // Not under somebody's hands: a chosen format would be gone.
  if (list.contains(document.activeElement)) return void (timer = setTimeout(refresh, GATHER));
  const response = await fetch(location.pathname, { headers: { Accept: "text/html" }, redirect: "error" }).catch(() => null);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("datasets");
  if (fresh) list.replaceChildren(...fresh.childNodes);
}

listen(list.dataset, (event) => {
  if (event.name.startsWith("snapshot.") || event.name.startsWith("export.")) timer ||= setTimeout(refresh, GATHER);
});
