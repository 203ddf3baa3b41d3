// The desk: holds a task and joins the parts. Each part sees to one thing; what follows from a change is shown here.

import { listen } from "../live.js";
import { listenToPage } from "./acts.js";
import { Ahead } from "./ahead.js";
import { Answers } from "./answers.js";
import { say, texts } from "./api.js";
import { Dialogs } from "./cheatsheet.js";
import { Clock } from "./clock.js";
import { Cursor } from "./cursor.js";
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
import { Tables } from "./tables.js";
import { Taking } from "./taking.js";
import { Thumbs } from "./thumbs.js";
import { Types } from "./types.js";
import { Viewer } from "./viewer.js";

const byId = (id) => document.getElementById(id);

export class Desk {
  constructor() {
    this.root = byId("desk");
    this.notice = byId("desk-notice");
    this.title = byId("desk-title").textContent;
    this.task = null;
    this.list = new FieldList(byId("desk-fields"));
    this.tables = new Tables(this);
    this.notices = new Notices(this);
    this.cursor = new Cursor(this);
    this.answers = new Answers(this);
    this.picker = new Picker(this);
    this.thumbs = new Thumbs(byId("thumbs"), (page) => this.pages.show(page));
    this.dialogs = new Dialogs();
    this.pages = new Pages(this);
    this.finish = new Finish(this);
    this.ahead = new Ahead(this);
    this.taking = new Taking(this);
    this.types = new Types(this);
    this.clock = new Clock();
    this.lease = new Lease(byId("desk-lease"), (problem) => this.lost(problem));
    this.viewer = new Viewer(byId("viewer"), {
      onBox: (box) => this.cursor.to(box.field),
      onPick: (word) => this.picker.pick(word),
      onArea: (words) => this.picker.area(words),
      onRegion: (bbox) => this.picker.region(this.pages.current, bbox),
    });
    makeSplitter(byId("splitter"), byId("desk-sides"));
    listenToPage(this);
    bindKeys(this);
    forgetOldDrafts();
    listen(this.root.dataset, (event) => this.taking.happened(event));
    setInterval(() => this.notices.saved(), 1000);
  }

  /** Put what the server gave on the desk: a task, or the reason why there is none. */
  receive(given) {
    if (!given.task) return this.empty(given);
    const task = new Task(given);
    this.task = task;
    this.cursor.leave();
    this.pages.current = null;
    this.saver?.close();
    this.tables.clear();
    task.cellAt = (path) => this.tables.cellAt(path);
    this.saver = new Saver(task, (what, field, problem) => this.heard(what, field, problem));
    this.notices.clear();
    this.picker.close();
    this.clock.begin(task);
    this.lease.hold(task);
    byId("desk-title").textContent = task.filename;
    byId("desk-why").textContent = task.reasonSentence ? say("why_you", { reasons: task.reasonSentence }) : "";
    this.types.show(task);
    this.list.build(task, (group) => this.tables.build(group, task));
    const restored = this.saver.restore();
    this.tables.render();
    task.fields.forEach((field) => this.list.update(field));
    this.thumbs.build(task);
    this.setState("task");
    this.changed();
    this.cursor.start(task);
    if (!this.pages.current && task.pages.length) this.pages.show(task.pages[0]);
    this.sayRestored(restored);
    this.ahead.fetch(task);
  }

  sayRestored(fields) {
    if (!fields.length) return;
    this.notices.say(say("restored", { fields: fields.map((field) => field.label).join(", ") }));
    fields.forEach((field) => this.saver.save(field));
  }

  empty(given) {
    this.task = null;
    this.cursor.leave();
    this.lease.hold(null);
    this.viewer.clear();
    this.notices.clear();
    this.types.show(null);
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

  /** Show what follows from a change: marks, boxes, how much is left. */
  changed() {
    const { task } = this;
    if (!task) return;
    const left = task.asked.length;
    byId("desk-left").textContent = left ? say("left", { n: left, total: task.nToExamine }) : texts.all_decided;
    byId("submit").classList.toggle("is-ready", left === 0);
    this.thumbs.mark(task);
    this.pages.boxes();
    this.tables.sum();
    this.notices.saved();
  }

  tell(text) {
    this.notices.say(text);
  }

  /** How a save went. */
  heard(what, field, problem) {
    if (what === "lost") return this.lost(problem);
    this.list.update(field);
    this.notices.transfer(what);
    if (what === "conflict" || what === "refused") this.changed();
  }

  lost(problem) {
    // A submit that waits for an answer will be told itself: it may have arrived, and the task is finished by it.
    if (!this.task || this.task.isLost || this.finish.isWaiting) return;
    this.task.isLost = true;
    this.list.setReadOnly(true);
    this.notices.lost(problem, this.saver.unsaved);
  }
}
