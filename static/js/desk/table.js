// Repeated groups as a grid: cells by arrows, Enter and Tab; rows added, deleted, split, merged and pasted.

import { labelOf, say, texts } from "./api.js";
import { element } from "./fields.js";
import { isComposing } from "./keys.js";
import { sumLine, sumsOf } from "./sums.js";

/** The cells of a group: path of the group, row number, column path. */
export function place(group, path) {
  const [row, ...rest] = path.slice(group.path.length + 1).split("/");
  return { row: Number(row), column: `/${rest.join("/")}` };
}

export function rowsOfText(text) {
  const lines = text.replace(/\r/g, "").replace(/\n$/, "").split("\n");
  return lines.map((line) => line.split("\t"));
}

export class Table {
  constructor(group, task, desk) {
    Object.assign(this, { group, task, desk });
    this.rowsOnTop = 0;
    this.body = element("tbody");
    this.sums = element("div", { class: "table-totals", role: "status" });
    this.root = this.build();
  }

  get cells() {
    return this.task.fields.filter((field) => field.path.startsWith(`${this.group.path}/`));
  }

  get nRows() {
    return Math.max(this.rowsOnTop, ...this.cells.map((field) => place(this.group, field.path).row + 1));
  }

  cell(row, column) {
    return this.task.byPath.get(`${this.group.path}/${row}${column.path}`) ?? this.addCell(row, column);
  }

  addCell(row, column) {
    return this.task.addField({
      field_path: `${this.group.path}/${row}${column.path}`,
      labels: column.labels,
      value_type: column.value_type,
      is_required: false,
      is_to_examine: false,
      max_lines: 1,
      prediction: null,
      edit: null,
    });
  }

  build() {
    const label = labelOf(this.group.labels, this.group.path);
    const head = element("tr", {}, element("th", { scope: "col", class: "row-number" }, "#"));
    for (const column of this.group.columns) head.append(element("th", { scope: "col", class: `is-${column.value_type}` }, labelOf(column.labels, column.path)));
    head.append(element("th", { scope: "col", class: "row-acts" }));
    const grid = element("table", { class: "grid", "aria-label": label }, element("thead", {}, head), this.body);
    const add = element("button", { type: "button", class: "plain" }, `+ ${texts.add_row}`);
    add.addEventListener("click", () => this.change(() => this.addRow()));
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("paste", (event) => this.paste(event));
    this.render();
    return element("section", { class: "group", "aria-label": label }, element("h2", {}, label), element("div", { class: "scroll", tabIndex: -1 }, grid), element("div", { class: "table-foot" }, add, this.sums));
  }

  render() {
    const rows = [];
    for (let row = 0; row < this.nRows; row += 1) rows.push(this.tableRow(row));
    this.body.replaceChildren(...rows);
    this.sum();
  }

  tableRow(row) {
    const isGone = this.isGone(row);
    const made = element("tr", { class: isGone ? "is-gone" : "", data: { row } }, element("td", { class: "row-number number" }, String(row + 1)));
    for (const column of this.group.columns) {
      const field = this.cell(row, column);
      const input = element("input", {
        type: "text",
        class: `field-input is-${column.value_type}`,
        autocomplete: "off",
        spellcheck: false,
        data: { path: field.path, row, column: column.path },
        "aria-label": `${say("row", { n: row + 1 })}, ${labelOf(column.labels, column.path)}`,
      });
      const cell = element("td", { class: "cell", data: { path: field.path }, tabIndex: -1 }, input);
      made.append(cell);
      this.desk.list.adopt(field, { row: cell, input, isCell: true });
    }
    const act = (name, title, run) => {
      const button = element("button", { type: "button", class: "plain", title: say(title, { n: row + 1 }), "aria-label": say(title, { n: row + 1 }), tabIndex: -1 }, texts[name]);
      button.addEventListener("mousedown", (event) => event.preventDefault());
      button.addEventListener("click", () => this.change(run));
      return button;
    };
    made.append(
      element("td", { class: "row-acts" }, act("split", "split_row", () => this.split(row)), act("merge", "merge_row", () => this.merge(row)), act("delete", "delete_row", () => this.deleteRow(row))),
    );
    return made;
  }

  isGone(row) {
    const cells = this.group.columns.map((column) => this.cell(row, column));
    return cells.some((field) => field.predicted) && cells.every((field) => !field.text.trim() && field.decision);
  }

  texts(row) {
    return this.group.columns.map((column) => this.cell(row, column).text);
  }

  /** Run a change of rows as one step that can be undone. */
  change(run) {
    if (!this.desk.answers.isOpen) return;
    const before = this.cells.map((field) => field.snapshot());
    const focused = document.activeElement?.dataset;
    run();
    this.desk.answers.remember(before.concat(this.cells.filter((field) => !before.some((one) => one.path === field.path)).map((field) => ({ path: field.path, text: "", decision: null }))));
    for (const field of this.cells) this.desk.saver.save(field);
    this.render();
    this.desk.changed();
    if (focused?.path) this.desk.list.input(this.task.byPath.get(focused.path))?.focus();
  }

  write(row, values) {
    this.group.columns.forEach((column, position) => {
      const field = this.cell(row, column);
      const text = values[position] ?? "";
      if (field.text === text) return;
      field.text = text;
      this.desk.answers.decide(field);
    });
  }

  addRow() {
    this.rowsOnTop = this.nRows + 1;
    queueMicrotask(() => this.focus(this.nRows - 1, 0));
  }

  deleteRow(row) {
    this.group.columns.forEach((column) => {
      const field = this.cell(row, column);
      field.text = "";
      if (field.predicted || field.edit) this.desk.answers.decide(field);
    });
    if (row === this.nRows - 1 && this.rowsOnTop === this.nRows) this.rowsOnTop -= 1;
  }

  /** Join a row with the one after it, cell by cell. Two amounts are not glued together: the first one stays. */
  merge(row) {
    if (row + 1 >= this.nRows) return;
    const next = this.texts(row + 1);
    const joined = this.texts(row).map((text, position) => {
      const isText = ["text", "name", "address"].includes(this.group.columns[position].value_type);
      return isText ? [text, next[position]].filter(Boolean).join(" ") : text || next[position];
    });
    this.write(row, joined);
    this.deleteRow(row + 1);
  }

  /** Put what stands behind the caret, and all columns after it, into a row of their own below. */
  split(row) {
    const active = document.activeElement;
    const isHere = active?.dataset.row === String(row) && this.body.contains(active);
    const at = isHere ? this.group.columns.findIndex((column) => column.path === active.dataset.column) : 0;
    const values = this.texts(row);
    const caret = isHere ? active.selectionStart : values[at].length;
    const upper = values.map((text, position) => (position === at ? text.slice(0, caret).trimEnd() : text));
    const lower = values.map((text, position) => (position === at ? text.slice(caret).trimStart() : ""));
    for (let to = this.nRows; to > row + 1; to -= 1) this.write(to, this.texts(to - 1));
    this.write(row, upper);
    this.write(row + 1, lower);
    this.rowsOnTop = Math.max(this.rowsOnTop, this.nRows);
  }

  paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const { row, column } = event.target.dataset ?? {};
    if (row === undefined || !/[\t\n]/.test(text.trim())) return;
    event.preventDefault();
    const rows = rowsOfText(text);
    const first = this.group.columns.findIndex((one) => one.path === column);
    this.change(() => {
      rows.forEach((cells, offset) => {
        const values = this.texts(Number(row) + offset);
        cells.forEach((cell, position) => {
          if (first + position < values.length) values[first + position] = cell.trim();
        });
        this.write(Number(row) + offset, values);
      });
    });
    this.desk.tell(say("rows_pasted", { n: rows.length }));
  }

  key(event) {
    const { row, column } = event.target.dataset ?? {};
    if (row === undefined || isComposing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.group.columns.findIndex((one) => one.path === column);
    const { selectionStart, selectionEnd, value } = event.target;
    const isWhole = selectionStart === 0 && selectionEnd === value.length;
    const moves = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: (isWhole || selectionEnd === 0) && [0, -1],
      ArrowRight: (isWhole || selectionStart === value.length) && [0, 1],
    };
    const move = moves[event.key];
    if (!move || event.shiftKey || !this.focus(Number(row) + move[0], at + move[1])) return;
    event.preventDefault();
  }

  /** The cell below `field`, if there is one: where Enter goes when nothing here is doubtful. */
  below(field) {
    const { row, column } = place(this.group, field.path);
    return row + 1 < this.nRows ? this.task.byPath.get(`${this.group.path}/${row + 1}${column}`) : null;
  }

  focus(row, at) {
    const input = this.body.rows[row]?.cells[at + 1]?.querySelector("input");
    input?.focus();
    input?.select();
    return Boolean(input);
  }

  sum() {
    this.sums.replaceChildren(...sumsOf(this.group, this.task).map((sum) => sumLine(sum, this.task)));
  }
}
