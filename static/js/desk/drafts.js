// Nothing typed is lost: each field is kept on this computer until the server has it, and sent until it has.

import { Refused, call, settings } from "./api.js";
import { asText } from "./state.js";

const TYPING_PAUSE = 2_000;
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 15_000;
const KEPT_FOR = 14 * 86_400_000;
const PREFIX = `stet:draft:${settings.user}:`;

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

function write(key, content) {
  try {
    if (Object.keys(content).length) localStorage.setItem(key, JSON.stringify(content));
    else localStorage.removeItem(key);
    return true;
  } catch {
    // A full or forbidden store: the server still gets everything.
    return false;
  }
}

/** Drafts of tasks that nobody came back to go after two weeks. */
export function forgetOldDrafts() {
  for (const key of Object.keys(localStorage).filter((one) => one.startsWith(PREFIX))) {
    const newest = Math.max(0, ...Object.values(read(key)).map((draft) => draft.at ?? 0));
    if (Date.now() - newest > KEPT_FOR) localStorage.removeItem(key);
  }
}

/** Keeps and sends the fields of one task. `tell` hears "saving", "saved", "offline", "conflict", "lost", "refused". */
export class Saver {
  constructor(task, tell) {
    this.task = task;
    this.tell = tell;
    this.key = PREFIX + task.id;
    this.queue = new Set();
    this.timers = new Map();
    this.inFlight = null;
    this.wait = FIRST_WAIT;
    this.retry = null;
    this.isClosed = false;
    this.isKept = true;
    this.isHeld = false;
    this.savedAt = 0;
    addEventListener("online", this.resume);
  }

  resume = () => {
    this.wait = FIRST_WAIT;
    this.again();
  };

  again() {
    clearTimeout(this.retry);
    this.retry = null;
    this.flush();
  }

  /** Put back what this computer kept; return the fields that it was kept for. */
  restore() {
    const back = [];
    for (const [path, draft] of Object.entries(read(this.key))) {
      const field = this.task.byPath.get(path) ?? this.task.cellAt?.(path);
      if (!field) continue;
      field.text = draft.text;
      if (draft.verdict) field.decision = { verdict: draft.verdict, by: settings.user };
      else if (field.text.trim() === field.predicted.trim()) field.decision = null;
      if (field.isUnsaved) back.push(field);
      else this.forget(field);
    }
    return back;
  }

  keep(field) {
    const drafts = read(this.key);
    drafts[field.path] = { text: field.text, verdict: field.decision?.verdict ?? null, at: Date.now() };
    this.isKept = write(this.key, drafts);
  }

  forget(field) {
    const drafts = read(this.key);
    delete drafts[field.path];
    write(this.key, drafts);
  }

  get unsaved() {
    return this.task.fields.filter((field) => field.isUnsaved);
  }

  get isSaving() {
    return this.inFlight !== null;
  }

  /** Keep at once, send after a pause in typing. */
  typed(field) {
    this.keep(field);
    clearTimeout(this.timers.get(field));
    this.timers.set(field, setTimeout(() => this.save(field), TYPING_PAUSE));
  }

  /** Send a field as soon as possible. */
  save(field) {
    clearTimeout(this.timers.get(field));
    if (!field.isUnsaved || field.conflict) {
      if (!field.isUnsaved) this.forget(field);
      return;
    }
    this.keep(field);
    this.queue.add(field);
    this.flush();
  }

  async flush() {
    if (this.inFlight || this.isClosed || this.isHeld || this.task.isLost) return;
    const field = this.queue.values().next().value;
    if (!field) return;
    this.queue.delete(field);
    const text = field.text;
    this.tell("saving", field);
    this.inFlight = call("PATCH", `${this.task.id}/fields/`, {
      lease_token: this.task.token,
      field_path: field.path,
      base_version: field.version,
      ...field.answer,
    });
    try {
      this.accepted(field, text, await this.inFlight);
    } catch (error) {
      this.refused(field, error);
    } finally {
      this.inFlight = null;
    }
    if (this.retry === null) this.flush();
  }

  accepted(field, text, edit) {
    field.edit = edit;
    field.problem = "";
    field.acknowledged = { text, verdict: edit.verdict };
    if (edit.verdict !== null) this.takeForm(field, text, edit);
    this.wait = FIRST_WAIT;
    this.savedAt = Date.now();
    if (field.isUnsaved) this.keep(field);
    else this.forget(field);
    this.tell("saved", field);
  }

  /** Show a saved value as the server writes it. */
  takeForm(field, text, edit) {
    if (field.decision) field.decision.verdict = edit.verdict;
    // The server writes values in one form: 25/12/2018 comes back as 2018-12-25. Not under the typing hand.
    if (field.text === text && document.activeElement?.dataset.path !== field.path) {
      field.text = asText(edit.value);
      field.acknowledged.text = field.text;
      field.decision ??= { verdict: edit.verdict, by: settings.user };
    }
  }

  refused(field, error) {
    // Of a task that is no longer on the desk: its draft is kept, and nobody is told.
    if (this.isClosed) return;
    if (!(error instanceof Refused) || error.isPassing || error.isSignedOut) {
      this.queue.add(field);
      this.tell(error.isSignedOut ? "signed_out" : "offline", field);
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.again(), this.wait);
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
    } else if (error.problem.code === "lease_lost") {
      this.tell("lost", field, error.problem);
    } else if (error.status === 409) {
      field.conflict = error.problem.current ?? null;
      this.tell("conflict", field);
    } else {
      field.problem = error.problem.problems?.[0]?.message ?? error.problem.detail ?? "";
      this.tell("refused", field);
    }
  }

  /** Send nothing more, and wait until nothing is on its way: the submit carries what is left. */
  async hold() {
    this.isHeld = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    await this.inFlight?.catch(() => undefined);
  }

  /** The submit was refused: go on. */
  goOn() {
    this.isHeld = false;
    this.flush();
  }

  /** The task is finished: what was kept here is no longer needed. */
  finish() {
    this.close();
    localStorage.removeItem(this.key);
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.retry);
    for (const timer of this.timers.values()) clearTimeout(timer);
    removeEventListener("online", this.resume);
  }
}
