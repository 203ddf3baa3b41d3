// Accuracy by day: a line with its interval for each engine version; changes of policy and reader as marks.

import { axis, base, percent } from "./frame.js";

const SHAPES = ["circle", "rect", "triangle", "diamond"];

export function trend(values, colour) {
  const lines = [colour.accent, colour.amber, colour.red, colour["ink-faint"]];
  const marks = values.marks.map((mark, i) => ({ xAxis: mark.day, name: String(i + 1) }));
  const lowest = Math.min(...values.series.flatMap((one) => one.points.map((point) => point[2])), 0.95);
  return {
    ...base(colour),
    legend: { top: 0, left: 0, textStyle: { color: colour.ink }, data: values.series.map((one) => one.name) },
    tooltip: { ...base(colour).tooltip, trigger: "item", formatter: (at) => at.data.words ?? at.name },
    grid: { left: 16, right: 32, top: 56, bottom: 8, containLabel: true },
    xAxis: axis(colour, { type: "time", minInterval: 86_400_000, splitLine: { show: false }, axisLabel: { color: colour["ink-faint"], formatter: "{MM}-{dd}", hideOverlap: true } }),
    yAxis: axis(colour, { type: "value", min: Math.floor(lowest * 20) / 20, max: 1, axisLabel: { color: colour["ink-faint"], formatter: (x) => `${Math.round(x * 100)} %` } }),
    series: values.series.flatMap((one, i) => [
      {
        name: one.name,
        type: "line",
        symbol: SHAPES[i % SHAPES.length],
        symbolSize: 8,
        itemStyle: { color: lines[i % lines.length] },
        lineStyle: { color: lines[i % lines.length], type: i ? "dashed" : "solid" },
        data: one.points.map(([day, point, lower, upper, n]) => ({
          value: [day, point],
          words: `${one.name}\n${day}: ${percent(point)} (${percent(lower)} – ${percent(upper)}, n ${n})`,
        })),
        ...(i === 0 && {
          markLine: {
            symbol: "none",
            lineStyle: { color: colour["rule-strong"], type: "dotted" },
            label: { color: colour["ink-faint"], formatter: (at) => at.name, position: "end", rotate: 0 },
            data: marks,
          },
        }),
      },
      {
        name: `${one.name} interval`,
        type: "custom",
        silent: true,
        itemStyle: { color: lines[i % lines.length] },
        data: one.points.map(([day, , lower, upper]) => [day, lower, upper]),
        renderItem: (_, api) => whisker(api, lines[i % lines.length]),
      },
    ]),
  };
}

/** A vertical stroke from the lower to the upper limit. */
export function whisker(api, stroke) {
  const [x, top] = api.coord([api.value(0), api.value(2)]);
  const [, bottom] = api.coord([api.value(0), api.value(1)]);
  return { type: "line", shape: { x1: x, y1: top, x2: x, y2: bottom }, style: { stroke, lineWidth: 1, opacity: 0.6 } };
}
