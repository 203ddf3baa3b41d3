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

listen(list.dataset, (event) => {
  if (event.name.startsWith("export.")) timer ||= setTimeout(refresh, GATHER);
});

// What a new export would hold follows the day that is chosen for it.

const form = document.getElementById("new-export");
let latest = 0;

form.elements.since.addEventListener("change", async () => {
  const mine = ++latest;
  const address = new URL(location.pathname, location.href);
  address.searchParams.set("since", form.elements.since.value);
  const response = await fetch(address, { headers: { Accept: "text/html" }, redirect: "error" }).catch(() => null);
  if (!response?.ok || mine !== latest) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("export-counts");
  if (fresh && mine === latest) document.getElementById("export-counts").replaceChildren(...fresh.childNodes);
});
