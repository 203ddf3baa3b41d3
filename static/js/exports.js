// The list of exports follows their writing.

import { listen } from "./live.js";

const GATHER = 300;

const list = document.getElementById("exports");
let timer = 0;

async function refresh() {
  timer = 0;
  const response = await fetch(location.pathname, { headers: { Accept: "text/html" }, redirect: "error" }).catch(() => null);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("exports");
  if (fresh) list.replaceChildren(...fresh.childNodes);
}

listen(list.dataset.socket, list.dataset.after, (event) => {
  if (event.name.startsWith("export.")) timer ||= setTimeout(refresh, GATHER);
});
