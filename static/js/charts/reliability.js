// What confidence promised against what was kept, with intervals; on the diagonal it kept what it promised.
// `before` is the same of another confidence, drawn faint and hollow; `names` are what the two are called.

import { axis, base, percent } from "./frame.js";
import { whisker } from "./trend.js";

export function reliability(values, colour) {
  const share = { type: "value", min: 0, max: 1, axisLabel: { color: colour["ink-faint"], formatter: (x) => `${Math.round(x * 100)} %` } };
  const [after, before] = values.names ?? [];
  return {
    ...base(colour),
    grid: { left: 16, right: 48, top: values.names ? 56 : 32, bottom: 28, containLabel: true },
    ...(values.names && { legend: { top: 0, left: 0, textStyle: { color: colour.ink }, data: values.names } }),
    tooltip: { ...base(colour).tooltip, trigger: "item", formatter: (at) => at.data.words ?? "" },
    xAxis: axis(colour, { ...share, name: values.promised, nameLocation: "middle", nameGap: 28 }),
    yAxis: axis(colour, { ...share, name: values.kept }),
    series: [
      {
        type: "line",
        name: values.ideal,
        silent: true,
        symbol: "none",
        lineStyle: { color: colour["rule-strong"], type: "dashed" },
        data: [[0, 0], [1, 1]],
      },
      ...(values.before ? kept(values, values.before, before, { color: colour.sheet, borderColor: colour["ink-faint"], borderWidth: 2 }, colour["ink-faint"]) : []),
      ...kept(values, values.points, after, { color: colour.accent }, colour.accent),
    ],
  };
}

/** The points of one confidence and the strokes of their intervals. */
function kept(values, points, name, itemStyle, stroke) {
  return [
    {
      type: "custom",
      name,
      silent: true,
      itemStyle,
      data: points.map(([promised, , lower, upper]) => [promised, lower, upper]),
      renderItem: (_, api) => whisker(api, stroke),
    },
    {
      type: "scatter",
      name,
      symbolSize: 10,
      itemStyle,
      data: points.map(([promised, share, lower, upper, n]) => ({
        value: [promised, share],
        words: `${name ? `${name}\n` : ""}${values.promised} ${percent(promised)}\n${values.kept} ${percent(share)} (${percent(lower)} – ${percent(upper)}, n ${n})`,
      })),
    },
  ];
}
