// Finds the charts of a page and draws each by its kind.

import { bands } from "./bands.js";
import { mount } from "./frame.js";

const KINDS = { bands };

export function drawCharts(root = document) {
  return [...root.querySelectorAll("[data-chart]")].map((element) => mount(element, KINDS[element.dataset.chart]));
}
