// What the rows of a group add up to, beside what the document says: by the document type's own rules, else by a guess.

import { labelOf, say, texts } from "./api.js";
import { element, icon } from "./fields.js";

const ANY_ROW = "/*/";
const GUESSED_TOLERANCE = 0.005;

/** A number as people write amounts: 1,234.50 and 1.234,50 and 12 and (12.00) and 12.00- alike; null for none. */
export function amount(text) {
  const plain = text.normalize("NFKC").replace(/[\u2212\u2010-\u2014]/g, "-").trim();
  const kept = plain.replace(/[^\d.,]/g, "");
  if (!/\d/.test(kept)) return null;
  const mark = Math.max(kept.lastIndexOf("."), kept.lastIndexOf(","));
  const isDecimal = mark >= 0 && kept.length - mark - 1 !== 3;
  const digits = (part) => part.replace(/[.,]/g, "");
  const number = isDecimal ? Number(`${digits(kept.slice(0, mark))}.${kept.slice(mark + 1)}`) : Number(digits(kept));
  const isNegative = /^[^\d]*-|-[^\d]*$|^\(.*\)$/.test(plain);
  return Number.isFinite(number) ? (isNegative ? -number : number) : null;
}

/** The fields that a rule's path names: one field, or a column's cells in every row. */
function fieldsAt(task, path) {
  const [group, column] = path.split(ANY_ROW);
  if (column === undefined) return [task.byPath.get(path)].filter(Boolean);
  return task.fields.filter((field) => {
    const [row, ...rest] = field.path.startsWith(`${group}/`) ? field.path.slice(group.length + 1).split("/") : [];
    return /^\d+$/.test(row ?? "") && rest.join("/") === column;
  });
}

/** The sums that concern a group: {columns, operands, total, tolerance}. A type without such a rule is guessed at. */
export function sumsOf(group, task) {
  const isOfGroup = (path) => path.startsWith(`${group.path}${ANY_ROW}`);
  const named = (path) => group.columns.find((one) => `${group.path}/*${one.path}` === path);
  const rules = task.rules.filter((rule) => rule.rule === "sum" && !rule.equals.includes(ANY_ROW) && rule.of.some(isOfGroup));
  if (rules.length) {
    return rules.map((rule) => ({
      columns: rule.of.filter(isOfGroup).map(named),
      operands: rule.of,
      total: task.byPath.get(rule.equals) ?? null,
      tolerance: Number(rule.tolerance),
    }));
  }
  const isAmount = (type) => type === "amount";
  const total = task.byPath.get("/total") ?? task.singles.find((field) => field.path.endsWith("total") && isAmount(field.valueType));
  const column = group.columns.filter((one) => isAmount(one.value_type)).at(-1);
  if (!column || !total) return [];
  return [{ columns: [column], operands: [`${group.path}/*${column.path}`], total, tolerance: GUESSED_TOLERANCE }];
}

/** A sum as it stands: an empty cell adds nothing; where the total, one addend or a whole column is missing, nothing is judged. */
export function weigh(sum, task) {
  let isJudged = true;
  let all = 0;
  for (const path of sum.operands) {
    const numbers = fieldsAt(task, path).map((field) => amount(field.text));
    if (numbers.every((one) => one === null)) isJudged = false;
    all += numbers.reduce((before, one) => before + (one ?? 0), 0);
  }
  const wanted = sum.total ? amount(sum.total.text) : null;
  if (!isJudged || wanted === null) return { all, verdict: null };
  return { all, verdict: Math.abs(all - wanted) <= sum.tolerance + 1e-9 ? "same" : "different" };
}

/** One line about a sum, coloured and marked by how it stands. */
export function sumLine(sum, task) {
  const { all, verdict } = weigh(sum, task);
  const values = {
    column: sum.columns.map((column) => labelOf(column.labels, column.path)).join(", "),
    sum: all.toFixed(2),
    total: sum.total?.label ?? "",
    value: sum.total?.text || texts.empty_value,
  };
  const said = { same: "sum_fits", different: "sum_differs" }[verdict] ?? "sum_alone";
  const line = element("span", { class: verdict ? `table-sums is-${verdict}` : "table-sums" });
  if (verdict) line.append(icon(verdict === "same" ? "person" : "broken"));
  line.append(say(said, values));
  return line;
}
