// Moving a threshold shows at once what it would have done; nothing is saved before the button is pressed.

import { drawCharts } from "./charts/all.js";

const WAIT = 350;

const form = document.getElementById("thresholds");
let timer = 0;
let latest = 0;

let charts = drawCharts();

async function estimate() {
  const mine = ++latest;
  const data = new FormData(form);
  data.set("act", "estimate");
  const response = await fetch(form.action, { method: "POST", body: data, headers: { Accept: "text/html" } }).catch(() => null);
  if (!response || mine !== latest) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const answer = fresh.getElementById("what-if");
  if (!answer || mine !== latest) return;
  place(answer, fresh);
}

function place(answer, fresh) {
  const panel = document.getElementById("what-if");
  charts.forEach((one) => one.chart.dispose());
  panel.replaceChildren(...answer.childNodes);
  charts = drawCharts(panel);
  for (const row of form.querySelectorAll("tr[data-path]")) {
    const now = [...fresh.querySelectorAll("tr[data-path]")].find((one) => one.dataset.path === row.dataset.path);
    const cells = now?.querySelectorAll(".outcome") ?? [];
    row.querySelectorAll(".outcome").forEach((cell, i) => cells[i] && cell.replaceChildren(...cells[i].childNodes));
  }
}

form?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(estimate, WAIT);
});
