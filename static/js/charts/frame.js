// What all charts share: colours from the page's tokens, redrawing on a change of theme or size, no motion when asked.

import * as echarts from "../../vendor/echarts.esm.min.mjs";

const TOKENS = ["ink", "ink-faint", "rule", "rule-strong", "paper", "sheet", "accent", "amber", "red"];

/** The tokens as the browser resolves them now, in light or dark. */
export function colours() {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const found = {};
  for (const name of TOKENS) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}

/** A colour between two others, `share` of the way from the first. */
export function between(from, to, share) {
  const parts = [from, to].map((colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number));
  return `rgb(${parts[0].map((one, i) => Math.round(one + (parts[1][i] - one) * share)).join(",")})`;
}

export const percent = (share) => `${(share * 100).toFixed(1)} %`;

/** Common parts of every option: text, axes, and a tooltip drawn on the canvas (the page allows no inline styles). */
export function base(colour) {
  const font = getComputedStyle(document.body).fontFamily;
  return {
    animation: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    animationDuration: 150,
    textStyle: { fontFamily: font, color: colour.ink, fontSize: 13 },
    tooltip: {
      renderMode: "richText",
      backgroundColor: colour.sheet,
      borderColor: colour["rule-strong"],
      textStyle: { color: colour.ink, fontFamily: font, fontSize: 13 },
    },
    grid: { left: 16, right: 32, top: 32, bottom: 8, containLabel: true },
  };
}

export function axis(colour, more) {
  return {
    axisLine: { lineStyle: { color: colour["rule-strong"] } },
    axisTick: { show: false },
    axisLabel: { color: colour["ink-faint"] },
    nameTextStyle: { color: colour["ink-faint"] },
    splitLine: { lineStyle: { color: colour.rule } },
    ...more,
  };
}

/** Draw in `element` what `option(values, colours)` says, now and whenever theme or size change. */
export function mount(element, option) {
  const chart = echarts.init(element, null, { renderer: "canvas" });
  const draw = () => chart.isDisposed() || chart.setOption(option(JSON.parse(element.dataset.values), colours()), true);
  draw();
  new ResizeObserver(() => chart.isDisposed() || chart.resize()).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return { chart, draw };
}
