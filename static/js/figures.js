// Pages of figures: their charts, and choices that act at once.

import { drawCharts } from "./charts/all.js";

drawCharts();

for (const form of document.querySelectorAll("form.filters[method=get]")) {
  form.addEventListener("change", () => form.requestSubmit());
}
