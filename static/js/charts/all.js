// Finds the charts of a page and draws each by its kind.

import { bands } from "./bands.js";
import { days } from "./days.js";
import { mount } from "./frame.js";
import { heat, sizeOf } from "./heat.js";
import { reliability } from "./reliability.js";
import { trend } from "./trend.js";

const KINDS = { bands, days, heat, reliability, trend };

export function drawCharts(root = document) {
  return [...root.querySelectorAll("[data-chart]")].map((element) => {
    if (element.dataset.chart === "heat") fit(element);
    return mount(element, KINDS[element.dataset.chart]);
  });
}

function fit(element) {
  const { height, maxWidth } = sizeOf(JSON.parse(element.dataset.values));
  element.style.setProperty("height", `${height}px`);
  element.style.setProperty("max-width", `${maxWidth}px`);
}
