// The desk: one task after the other, without loading the page anew.

import { listen } from "../live.js";
import { Ahead } from "./ahead.js";
import { Refused, call, say, settings, texts } from "./api.js";
import { Dialogs } from "./cheatsheet.js";
import { Clock } from "./clock.js";
import { Saver, forgetOldDrafts } from "./drafts.js";
import { FieldList } from "./fields.js";
import { Finish } from "./finish.js";
import { bindKeys } from "./keys.js";
import { Lease } from "./lease.js";
import { Notices } from "./notices.js";
import { Pages } from "./pages.js";
import { Picker } from "./pick.js";
import { makeSplitter } from "./splitter.js";
import { Task } from "./state.js";
import { Table } from "./table.js";
import { Thumbs } from "./thumbs.js";
import { Viewer } from "./viewer.js";

const byId = (id) => document.getElementById(id);
const SKELETON_AFTER = 300;
const LOOK_AGAIN_AFTER = 5_000;

export class Desk {
  constructor() {
    this.root = byId("desk");
    this.notice = byId("desk-notice");
    this.title = byId("desk-title").textContent;
    this.task = null;
    this.field = null;
        this.list = new FieldList(byId("desk-fields"));
    this.notices = new Notices(this);
    this.picker = new Picker(this);
    this.thumbs = new Thumbs(byId("thumbs"), (page) => this.pages.show(page));
    this.dialogs = new Dialogs();
    this.pages = new Pages(this);
    this.finish = new Finish(this);
    this.ahead = new Ahead(this);
    this.clock = new Clock();
    this.lease = new Lease(byId("desk-lease"), (problem) => this.lost(problem));
    this.viewer = new Viewer(byId("viewer"), {
      onBox: (box) => this.focus(box.field),
      onPick: (word) => this.picker.pick(word),
      onArea: (words) => this.picker.area(words),
      onRegion: (bbox) => this.picker.region(this.pages.current, bbox),
    });
    makeSplitter(byId("splitter"), byId("desk-sides"));
    this.listenToPage();
    bindKeys(this);
    forgetOldDrafts();
    listen(settings.socket, settings.after, (event) => this.happened(event));
    setInterval(() => this.notices.saved(), 1000);
  }

  listenToPage() {
    const { root } = this.list;
    // A press on a button beside a text leaves the focus in the text.
    root.addEventListener("mousedown", (event) => event.target.closest("button") && event.preventDefault());
    root.addEventListener("focusin", (event) => this.focused(event.target));
    root.addEventListener("focusout", (event) => this.left(event.target));
    root.addEventListener("input", (event) => this.typed(event.target));
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-act]");
      if (button && this.root.parentElement.contains(button)) this.act(button.dataset.act, button);
    });
    // A key that is held down confirms once; it does not submit.
    byId("submit").addEventListener("keydown", (event) => event.repeat && event.preventDefault());
    addEventListener("beforeunload", (event) => {
      // Kept on this computer anyway; only a task without that is worth a question.
      if (this.saver?.unsaved.length && !this.saver.isKept) event.preventDefault();
    });
  }

  // Taking tasks

  async takeNext() {
    if (this.root.dataset.state !== "empty") this.setState("loading");
    const skeleton = setTimeout(() => this.notices.say(texts.loading), SKELETON_AFTER);
    try {
      await this.receive(await call("POST", "lease/", {}));
    } catch (error) {
      this.failed(error);
    } finally {
      clearTimeout(skeleton);
    }
  }

  failed(error) {
    const isOut = error instanceof Refused && error.isSignedOut;
    this.notices.say(isOut ? texts.signed_out : texts.failed, "error");
    setTimeout(() => this.task === null && this.takeNext(), LOOK_AGAIN_AFTER);
  }

  async receive(given) {
    if (!given.task) return this.empty(given);
    const task = new Task(given);
    this.task = task;
    this.field = null;
    this.pages.current = null;
    this.saver?.close();
    this.tables = new Map();
    task.cellAt = (path) => this.cellAt(path);
    this.saver = new Saver(task, (what, field, problem) => this.heard(what, field, problem));
    this.notices.clear();
    this.picker.close();
    this.clock.begin(task);
    this.lease.hold(task);
    byId("desk-title").textContent = task.filename;
    byId("desk-why").textContent = task.reasonSentence ? say("why_you", { reasons: task.reasonSentence }) : "";
    this.list.build(task, (group) => this.buildTable(group, task));
    const restored = this.saver.restore();
    this.tables.forEach((table) => table.render());
    task.fields.forEach((field) => this.list.update(field));
    this.thumbs.build(task);
    this.setState("task");
    this.changed();
    const first = task.nextAsked(null);
    if (first) this.focus(first);
    else byId("submit").focus();
    if (!this.pages.current && task.pages.length) this.pages.show(task.pages[0]);
    if (restored.length) {
      this.notices.say(say("restored", { fields: restored.map((field) => field.label).join(", ") }));
      restored.forEach((field) => this.saver.save(field));
    }
    this.ahead.fetch(task);
  }

  buildTable(group, task) {
    const table = new Table(group, task, this);
    this.tables.set(group.path, table);
    return table.root;
  }

  cellAt(path) {
    for (const [groupPath, table] of this.tables) {
      const [row, ...rest] = path.startsWith(`${groupPath}/`) ? path.slice(groupPath.length + 1).split("/") : [];
      const column = table.group.columns.find((one) => one.path === `/${rest.join("/")}`);
      if (column && /^\d+$/.test(row)) return table.cell(Number(row), column);
    }
    return null;
  }

  async goOn() {
    const given = await this.ahead.take();
    this.task = null;
    this.lease.hold(null);
    this.clock.begin(null);
    if (!given) return this.takeNext();
    await this.receive(given);
    // It was kept as long as the one before; from here on it has a time of its own.
    this.lease.renew();
  }

  /** Go on after a task was lost; what was kept ready behind it is lost with it. */
  leave() {
    this.ahead.given = null;
    this.task = null;
    return this.takeNext();
  }

  empty(given) {
    this.task = null;
    this.field = null;
    this.lease.hold(null);
    this.viewer.clear();
    this.notices.clear();
    byId("desk-title").textContent = this.title;
    for (const id of ["desk-why", "desk-left"]) byId(id).textContent = "";
    const again = this.notices.empty(given);
    this.setState("empty");
    again.focus();
  }

  setState(state) {
    this.root.dataset.state = state;
    byId("desk-empty").hidden = state !== "empty";
    byId("desk-foot").inert = state !== "task";
    byId("desk-sides").classList.toggle("is-hidden", state === "empty");
  }

  // Fields

  fieldOf(target) {
    const path = target?.closest?.("[data-path]")?.dataset.path;
    return path === undefined ? null : (this.task?.byPath.get(path) ?? null);
  }

  /** Put the focus on a field with its text selected, and show where it stands. */
  focus(field, { asRow = false } = {}) {
    const parts = this.list.rows.get(field.path);
    if (!parts) return;
    if (asRow) return parts.row.focus();
    parts.input.focus();
    parts.input.select();
  }

  focused(target) {
    const field = this.fieldOf(target);
    if (!field || target.matches("button")) return;
    if (field !== this.field) {
      this.field = field;
      this.clock.field = field;
      this.picker.last = null;
      this.before = field.snapshot();
      this.list.current(field);
    }
    this.look(field);
  }

  async look(field) {
    const page = this.task.pages.find((one) => one.page_number === field.box?.page);
    if (page && page !== this.pages.current) await this.pages.show(page);
    if (this.field === field && (page ? page === this.pages.current : true)) this.viewer.fly(field.box?.bbox ?? null);
  }

  left(target) {
    const field = this.fieldOf(target);
    if (!field || !target.matches(".field-input")) return;
    if (field.isUnsaved && field.decision === null && field.text.trim() !== field.predicted.trim()) {
      this.remember([this.before?.path === field.path ? this.before : field.snapshot()]);
      this.decide(field);
    }
    this.saver.save(field);
    this.list.update(field);
    this.changed();
  }

  typed(target) {
    const field = this.fieldOf(target);
    if (!field) return;
    field.text = target.value;
    field.problem = "";
    if (field.decision) field.decision = { verdict: "corrected", by: settings.user };
    this.saver.typed(field);
    this.list.update(field);
    this.changed();
  }

  /** Replace a field's text, from the page or from a table, and save it. */
  write(field, text, verdict = null) {
    field.text = text;
    this.decide(field, verdict);
    this.saver.save(field);
    this.list.update(field);
    this.changed();
  }

  decide(field, verdict = null) {
    field.decision = verdict ? { verdict, by: settings.user } : null;
    field.decision = { verdict: field.answer.verdict, by: settings.user };
    field.problem = "";
  }

  remember(snapshots) {
    this.task.past.push(snapshots);
  }

  /** Enter: what stands in the field is right. */
  confirm() {
    const { field, task } = this;
    if (!field || task.isLost) return;
    const verdict = field.isIllegible ? "illegible" : null;
    this.remember([this.before?.path === field.path ? this.before : field.snapshot()]);
    this.decide(field, verdict);
    this.saver.save(field);
    this.list.update(field);
    this.changed();
    this.goTo(task.nextAsked(field), field);
  }

  goTo(next, from, options) {
    const table = [...this.tables.values()].find((one) => from?.path.startsWith(`${one.group.path}/`));
    const below = next ? null : table?.below(from);
    if (next ?? below) this.focus(next ?? below, options);
    else byId("submit").focus();
  }

  verdict(verdict) {
    const { field, task } = this;
    if (!field || task.isLost) return;
    this.remember([field.snapshot()]);
    if (verdict === "spurious") field.text = "";
    this.decide(field, verdict === "illegible" ? "illegible" : null);
    this.saver.save(field);
    this.list.update(field);
    this.changed();
    this.goTo(task.nextAsked(field), field, { asRow: true });
  }

  /** One of the values that are offered, taken for this field. */
  choice(field, at) {
    const chosen = field?.choices[at];
    if (!chosen || this.task.isLost) return;
    this.remember([field.snapshot()]);
    this.write(field, chosen.text, chosen.verdict === "illegible" ? "illegible" : null);
    this.goTo(this.task.nextAsked(field), field);
  }

  undo() {
    const snapshots = this.task?.past.pop();
    if (!snapshots) return this.tell(texts.nothing_to_undo);
    for (const { path, text, decision } of snapshots) {
      const field = this.task.byPath.get(path);
      Object.assign(field, { text, decision, problem: "" });
      this.saver.save(field);
      this.list.update(field);
    }
    this.before = null;
    this.tables.forEach((table) => table.render());
    this.changed();
    const field = this.task.byPath.get(snapshots[0].path);
    this.tell(say("undone", { field: field.label }));
    this.focus(field, { asRow: true });
  }

  leaveText() {
    if (this.field) this.focus(this.field, { asRow: true });
  }

  walk(step) {
    if (!this.task) return;
    const order = this.task.fields.filter((field) => this.list.rows.has(field.path));
    const at = order.indexOf(this.field);
    const next = order[Math.max(0, Math.min(order.length - 1, at + step))];
    if (next) this.focus(next, { asRow: true });
  }

  /** Show what follows from a change: marks, boxes, how much is left. */
  changed() {
    const { task } = this;
    if (!task) return;
    const left = task.asked.length;
    byId("desk-left").textContent = left ? say("left", { n: left, total: task.nToExamine }) : texts.all_decided;
    byId("submit").classList.toggle("is-ready", left === 0);
    this.thumbs.mark(task);
    this.pages.boxes();
    this.tables.forEach((table) => table.sum());
    this.notices.saved();
  }

  // What the server says

  tell(text) {
    this.notices.say(text);
  }

  heard(what, field, problem) {
    if (what === "lost") return this.lost(problem);
    this.list.update(field);
    this.notices.transfer(what);
    if (what === "conflict" || what === "refused") this.changed();
  }

  lost(problem) {
    if (!this.task || this.task.isLost) return;
    this.task.isLost = true;
    this.list.setReadOnly(true);
    this.notices.lost(problem, this.saver.unsaved);
  }

  async takeAgain() {
    try {
      await this.receive(await call("POST", `${this.task.id}/lease/`));
    } catch (error) {
      this.notices.say(error.problem?.detail ?? texts.failed, "error");
    }
  }

  choose(field, isMine) {
    const theirs = field.conflict;
    field.conflict = null;
    field.edit = { ...field.edit, ...theirs };
    field.acknowledged = { text: theirs.value ?? "", verdict: theirs.verdict };
    if (!isMine) {
      field.text = theirs.value ?? "";
      field.decision = { verdict: theirs.verdict, by: theirs.author };
      this.saver.forget(field);
    }
    this.saver.save(field);
    this.list.update(field);
    this.changed();
    this.focus(field);
  }

  happened({ name, payload }) {
    const step = { "review_task.created": 1, "review_task.submitted": -1, "review_task.unusable": -1, "review_task.cancelled": -1 }[name] ?? 0;
    const counter = byId("n-waiting");
    if (counter && step) counter.textContent = String(Math.max(0, Number(counter.textContent) + step));
    const isNew = ["review_task.created", "review_task.released", "review_task.skipped"].includes(name);
    if (isNew && this.root.dataset.state === "empty") return this.takeNext();
    const isOurs = payload?.task_id === this.task?.id && payload?.holder !== settings.user;
    if (isOurs && name.startsWith("review_task.") && !this.finish.isBusy) this.lease.renew();
    if (isNew && this.task && !this.ahead.given && !this.finish.isBusy) this.ahead.fetch(this.task);
  }

  /** Everything that a key or a button does, by name. */
  act(name, button) {
    const acts = {
      submit: () => this.finish.submit(),
      "accept-all": () => this.finish.acceptAll(),
      undo: () => this.undo(),
      skip: () => this.finish.pass("skip"),
      unusable: () => this.finish.pass("unusable"),
      missing: () => this.verdict("spurious"),
      illegible: () => this.verdict("illegible"),
      "candidate-1": () => this.choice(this.fieldOf(button) ?? this.field, 0),
      "candidate-2": () => this.choice(this.fieldOf(button) ?? this.field, 1),
      "candidate-3": () => this.choice(this.fieldOf(button) ?? this.field, 2),
      evidence: () => this.list.toggleEvidence(this.field),
      edit: () => this.field && this.focus(this.field),
      help: () => this.dialogs.keys(),
      pick: () => this.pickWords(),
      "look-again": () => this.takeNext(),
      "take-again": () => this.takeAgain(),
      "take-next": () => this.leave(),
      "keep-mine": () => this.choose(this.fieldOf(button), true),
      "keep-theirs": () => this.choose(this.fieldOf(button), false),
      "close-dialog": () => button.closest("dialog").close(),
      "next-row": () => this.walk(1),
      "previous-row": () => this.walk(-1),
      "previous-page": () => this.task && this.pages.turn(-1),
      "next-page": () => this.task && this.pages.turn(1),
      "zoom-in": () => this.viewer.zoom(1.4),
      "zoom-out": () => this.viewer.zoom(1 / 1.4),
      "zoom-fit": () => this.viewer.fit(),
      rotate: () => this.viewer.rotate(),
    };
    acts[name]?.();
  }

  pickWords() {
    const isPicking = !this.viewer.isPicking;
    this.viewer.setPicking(isPicking);
    document.querySelector("[data-act=pick]").setAttribute("aria-pressed", String(isPicking));
  }
}

