// What the person decides of a field: typed, confirmed, chosen, struck out, undone. Every change is saved at once.

import { say, settings, texts } from "./api.js";
import { asText } from "./state.js";

export class Answers {
  constructor(desk) {
    this.desk = desk;
    this.before = null;
  }

  get isOpen() {
    const { task } = this.desk;
    return Boolean(task) && !task.isLost && !this.desk.finish.isWaiting;
  }

  /** The focus came to a field: what an undo of its next decision brings back. */
  begin(field) {
    this.before = field.snapshot();
  }

  beforeOf(field) {
    return this.before?.path === field.path ? this.before : field.snapshot();
  }

  remember(snapshots) {
    this.desk.task.past.push(snapshots);
  }

  decide(field, verdict) {
    field.decide(settings.user, verdict);
  }

  /** Save a field and show what follows. */
  keep(field) {
    this.desk.saver.save(field);
    this.desk.list.update(field);
    this.desk.changed();
  }

  typed(field, text) {
    field.text = text;
    field.problem = "";
    if (field.decision) field.decision = { verdict: "corrected", by: settings.user };
    this.desk.saver.typed(field);
    this.desk.list.update(field);
    this.desk.changed();
  }

  /** The focus left a field: what was typed into it is the answer. */
  left(field) {
    if (field.decision === null && field.text.trim() !== field.predicted.trim()) {
      this.remember([this.beforeOf(field)]);
      this.decide(field);
    }
    this.keep(field);
  }

  /** Replace a field's text, from the page or from a table, and save it. */
  write(field, text, verdict) {
    field.text = text;
    this.decide(field, verdict);
    this.keep(field);
  }

  /** Enter: what stands in the field is right. */
  confirm() {
    const { field } = this.desk.cursor;
    if (!field || !this.isOpen) return;
    this.remember([this.beforeOf(field)]);
    this.decide(field, field.isIllegible ? "illegible" : undefined);
    this.keep(field);
    this.desk.cursor.next(field);
  }

  /** One key: the page does not show the field, or nobody can read it. */
  strike(verdict) {
    const { field } = this.desk.cursor;
    if (!field || !this.isOpen) return;
    this.remember([field.snapshot()]);
    if (verdict === "spurious") field.text = "";
    this.decide(field, verdict === "illegible" ? "illegible" : undefined);
    this.keep(field);
    this.desk.cursor.next(field, { asRow: true });
  }

  /** One of the values that are offered, taken for a field. */
  choose(field, at) {
    const chosen = field?.choices[at];
    if (!chosen || !this.isOpen) return;
    this.remember([field.snapshot()]);
    this.write(field, chosen.text, chosen.verdict === "illegible" ? "illegible" : undefined);
    this.desk.cursor.next(field);
  }

  /** Accept everything that is asked as it stands, as one step that can be undone. */
  acceptAll() {
    const { asked } = this.desk.task;
    const { field } = this.desk.cursor;
    this.remember(asked.map((one) => one.snapshot()));
    if (field?.isUnsaved) this.decide(field, field.isIllegible ? "illegible" : undefined);
    for (const one of asked) {
      this.decide(one);
      this.desk.list.update(one);
    }
    this.desk.changed();
  }

  undo() {
    if (!this.isOpen) return;
    const { cursor, list, saver, tables, task } = this.desk;
    const snapshots = task.past.pop();
    if (!snapshots) return this.desk.tell(texts.nothing_to_undo);
    for (const { path, text, decision } of snapshots) {
      const field = task.byPath.get(path);
      Object.assign(field, { text, decision, problem: "" });
      saver.save(field);
      list.update(field);
    }
    this.before = null;
    tables.render();
    this.desk.changed();
    const field = task.byPath.get(snapshots[0].path);
    this.desk.tell(say("undone", { field: field.label }));
    cursor.to(field, { asRow: true });
  }

  /** Two saves met: keep mine on top of theirs, or theirs. */
  settle(field, isMine) {
    const theirs = field.conflict;
    field.conflict = null;
    field.edit = { ...field.edit, ...theirs };
    const text = theirs.verdict === null ? field.predicted : asText(theirs.value);
    field.acknowledged = { text, verdict: theirs.verdict };
    if (!isMine) {
      field.text = text;
      field.decision = theirs.verdict === null ? null : { verdict: theirs.verdict, by: theirs.author };
      this.desk.saver.forget(field);
    }
    this.keep(field);
    this.desk.cursor.to(field);
  }
}
