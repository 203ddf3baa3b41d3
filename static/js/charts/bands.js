// How many were stored, sampled and reviewed: one bar a row, of stacked shares with their counts.

import { axis, base } from "./frame.js";

export function bands(values, colour) {
  const fills = [colour.accent, colour["ink-faint"], colour.amber];
  const rows = [...values.rows].reverse();
  const total = rows.map((row) => row.counts.reduce((sum, n) => sum + n, 0) || 1);
  return {
    ...base(colour),
    legend: { top: 0, left: 0, textStyle: { color: colour.ink }, itemWidth: 12, itemHeight: 12 },
    tooltip: {
      ...base(colour).tooltip,
      formatter: (at) => `${at.seriesName}: ${at.data.n} (${(at.value * 100).toFixed(1)} %)`,
    },
    xAxis: axis(colour, { type: "value", max: 1, axisLabel: { color: colour["ink-faint"], formatter: (x) => `${Math.round(x * 100)} %` } }),
    yAxis: axis(colour, { type: "category", data: rows.map((row) => row.name), axisLabel: { color: colour.ink } }),
    series: values.bands.map((name, i) => ({
      name,
      type: "bar",
      stack: "all",
      barWidth: 18,
      itemStyle: { color: fills[i], borderColor: colour.paper, borderWidth: 1 },
      data: rows.map((row, at) => ({ value: row.counts[i] / total[at], n: row.counts[i] })),
    })),
  };
}
