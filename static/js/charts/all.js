// Finds the charts of a page and draws each by its kind.

import { bands } from "./bands.js";
import { days } from "./days.js";
import { mount } from "./frame.js";
import { heat } from "./heat.js";
import { reliability } from "./reliability.js";
import { trend } from "./trend.js";

const KINDS = { bands, days, heat, reliability, trend };

export function drawCharts(root = document) {
  return [...root.querySelectorAll("[data-chart]")].map((element) => mount(element, KINDS[element.dataset.chart]));
}
