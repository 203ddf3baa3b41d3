// The tables of a task, one for each repeated group.

import { Table } from "./table.js";

export class Tables {
  constructor(desk) {
    this.desk = desk;
    this.byPath = new Map();
  }

  clear() {
    this.byPath.clear();
  }

  /** Make the table of a group; return its element. */
  build(group, task) {
    const table = new Table(group, task, this.desk);
    this.byPath.set(group.path, table);
    return table.root;
  }

  render() {
    this.byPath.forEach((table) => table.render());
  }

  sum() {
    this.byPath.forEach((table) => table.sum());
  }

  /** The cell at a path, made where its row is new; null outside every group. */
  cellAt(path) {
    for (const [groupPath, table] of this.byPath) {
      const [row, ...rest] = path.startsWith(`${groupPath}/`) ? path.slice(groupPath.length + 1).split("/") : [];
      const column = table.group.columns.find((one) => one.path === `/${rest.join("/")}`);
      if (column && /^\d+$/.test(row)) return table.cell(Number(row), column);
    }
    return null;
  }

  /** The cell below `field`, where it is one and there is a row below. */
  below(field) {
    const table = [...this.byPath.values()].find((one) => field?.path.startsWith(`${one.group.path}/`));
    return table?.below(field) ?? null;
  }
}
