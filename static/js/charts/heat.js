// Accuracy by field and confidence: figure and n stand in every cell, the deeper the colour the more was surely wrong.
// One wrong value of one checked proves little: the upper end of the interval colours.

import { axis, base, between, percent } from "./frame.js";

const DEEPEST = 0.45;
const WORST = 0.3;

/** A map is as large as its cells ask for, not as the page is: two fields are no wall of colour. */
export function sizeOf(values) {
  return { height: 40 + 36 * values.fields.length, maxWidth: 200 + 130 * values.buckets.length };
}

export function heat(values, colour) {
  const shade = (share) => between(colour.sheet, colour.red, DEEPEST * Math.min(1, (1 - share) / WORST));
  return {
    ...base(colour),
    grid: { left: 16, right: 16, top: 8, bottom: 8, containLabel: true },
    tooltip: { ...base(colour).tooltip, formatter: (at) => at.data.words },
    xAxis: axis(colour, { type: "category", data: values.buckets, position: "bottom", splitLine: { show: false } }),
    yAxis: axis(colour, { type: "category", data: values.fields, inverse: true, axisLabel: { color: colour.ink }, splitLine: { show: false } }),
    series: [
      {
        type: "heatmap",
        label: { show: true, color: colour.ink, formatter: (at) => at.data.figure },
        itemStyle: { borderColor: colour.rule, borderWidth: 1 },
        data: values.cells.map(([bucket, field, share, lower, upper, n]) => ({
          value: [bucket, field, share],
          itemStyle: { color: shade(upper) },
          figure: `${percent(share)}  n ${n}`,
          words: `${values.fields[field]}, ${values.buckets[bucket]}\n${percent(share)} (${percent(lower)} – ${percent(upper)}, n ${n})`,
        })),
      },
    ],
  };
}
