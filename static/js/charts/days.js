// Documents by day, stacked by what happened to them.

import { axis, base } from "./frame.js";

export function days(values, colour) {
  const fills = [colour.accent, colour["ink-faint"], colour.amber];
  return {
    ...base(colour),
    legend: { top: 0, left: 0, textStyle: { color: colour.ink }, itemWidth: 12, itemHeight: 12 },
    tooltip: { ...base(colour).tooltip, trigger: "axis" },
    xAxis: axis(colour, { type: "category", data: values.days, splitLine: { show: false } }),
    yAxis: axis(colour, { type: "value", minInterval: 1 }),
    series: values.bands.map((name, i) => ({
      name,
      type: "bar",
      stack: "all",
      barMaxWidth: 24,
      itemStyle: { color: fills[i], borderColor: colour.paper, borderWidth: 1 },
      data: values.counts.map((counts) => counts[i]),
    })),
  };
}
