// What confidence promised against what was kept, with intervals; on the diagonal it kept what it promised.

import { axis, base, percent } from "./frame.js";
import { whisker } from "./trend.js";

export function reliability(values, colour) {
  const share = { type: "value", min: 0, max: 1, axisLabel: { color: colour["ink-faint"], formatter: (x) => `${Math.round(x * 100)} %` } };
  return {
    ...base(colour),
    grid: { left: 16, right: 48, top: 32, bottom: 28, containLabel: true },
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
      {
        type: "custom",
        silent: true,
        data: values.points.map(([promised, , lower, upper]) => [promised, lower, upper]),
        renderItem: (_, api) => whisker(api, colour.accent),
      },
      {
        type: "scatter",
        symbolSize: 10,
        itemStyle: { color: colour.accent },
        data: values.points.map(([promised, kept, lower, upper, n]) => ({
          value: [promised, kept],
          words: `${values.promised} ${percent(promised)}\n${values.kept} ${percent(kept)} (${percent(lower)} – ${percent(upper)}, n ${n})`,
        })),
      },
    ],
  };
}
