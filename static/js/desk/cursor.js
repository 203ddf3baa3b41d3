// Where the person is: which field has the focus, where the focus goes next, and what the page shows of it.

export class Cursor {
  constructor(desk) {
    this.desk = desk;
    this.field = null;
  }

  /** A new task begins: on its first doubtful field, or on the submit where nothing is asked. */
  start(task) {
    const first = task.nextAsked(null);
    if (first) this.to(first);
    else this.toSubmit();
  }

  leave() {
    this.field = null;
  }

  /** The field that an element of the page belongs to. */
  fieldOf(target) {
    const path = target?.closest?.("[data-path]")?.dataset.path;
    return path === undefined ? null : (this.desk.task?.byPath.get(path) ?? null);
  }

  /** Put the focus on a field with its text selected, and show where it stands. */
  to(field, { asRow = false } = {}) {
    const parts = this.desk.list.rows.get(field.path);
    if (!parts) return;
    if (asRow) return parts.row.focus();
    parts.input.focus();
    parts.input.select();
  }

  toSubmit() {
    document.getElementById("submit").focus();
  }

  /** The focus came to an element. */
  entered(target) {
    const { desk } = this;
    const field = this.fieldOf(target);
    if (!field || target.matches("button")) return;
    if (field !== this.field) {
      this.field = field;
      desk.clock.field = field;
      desk.picker.last = null;
      desk.answers.begin(field);
      desk.list.current(field);
    }
    this.look(field);
  }

  async look(field) {
    const { pages, task, viewer } = this.desk;
    const page = task.pages.find((one) => one.page_number === field.box?.page);
    if (page && page !== pages.current) await pages.show(page);
    if (this.field === field && (page ? page === pages.current : true)) viewer.fly(field.box?.bbox ?? null);
  }

  /** Go to the next doubtful field after `from`; else to the cell below, else to the submit. */
  next(from, options) {
    const next = this.desk.task.nextAsked(from) ?? this.desk.tables.below(from);
    if (next) this.to(next, options);
    else this.toSubmit();
  }

  /** Leave the text: letters are commands then. */
  leaveText() {
    if (this.field) this.to(this.field, { asRow: true });
  }

  walk(step) {
    const { list, task } = this.desk;
    if (!task) return;
    const order = task.fields.filter((field) => list.rows.has(field.path));
    const at = order.indexOf(this.field);
    const next = order[Math.max(0, Math.min(order.length - 1, at + step))];
    if (next) this.to(next, { asRow: true });
  }
}
