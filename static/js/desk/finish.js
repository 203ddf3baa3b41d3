// Finishing a task: submitted, passed on, or given up. Without a connection it waits, and is sent once there is one.

import { NoConnection, Refused, call, say, texts } from "./api.js";

const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 15_000;

/** Whether the same request may be answered later. */
function isPassing(error) {
  return error instanceof NoConnection || (error instanceof Refused && (error.isPassing || error.isSignedOut));
}

export class Finish {
  constructor(desk) {
    this.desk = desk;
    this.isBusy = false;
    this.waiting = null;
    addEventListener("online", () => this.again());
  }

  /** Whether the task is finished here, and the server has not said so yet. */
  get isWaiting() {
    return this.waiting !== null;
  }

  async submit() {
    const { cursor, task } = this.desk;
    if (this.isWaiting) return this.again();
    if (!task || this.isBusy || task.isLost) return;
    const open = task.asked[0];
    if (open) return cursor.to(open);
    this.desk.taking.leftBehind(task);
    await this.finish(`${task.id}/submit/`, { verdicts: task.verdicts }, texts.submitted);
  }

  async acceptAll() {
    const { task } = this.desk;
    if (!task || this.isBusy || task.isLost) return;
    this.desk.answers.acceptAll();
    await this.submit();
  }

  async pass(kind) {
    const { cursor, dialogs, task } = this.desk;
    if (!task || this.isBusy || task.isLost) return;
    const { field } = cursor;
    const reason = await dialogs.reason(texts[`${kind}_title`], texts[`${kind}_reason`]);
    if (reason === null || this.desk.task !== task) return field && cursor.to(field, { asRow: true });
    await this.finish(`${task.id}/${kind}/`, { reason }, kind === "skip" ? texts.skipped : texts.set_unusable);
  }

  async finish(path, body, done) {
    const { cursor, saver, task } = this.desk;
    const disputed = task.fields.find((field) => field.conflict);
    if (disputed) return cursor.to(disputed);
    this.isBusy = true;
    await saver.hold();
    await this.send({ path, body: { lease_token: task.token, ...body }, done, task, saver, wait: FIRST_WAIT });
  }

  /** Send until the server answers. With the same token it counts once, however often it arrives. */
  async send(finished) {
    const { saver, task } = finished;
    finished.isOnItsWay = true;
    try {
      await call("POST", finished.path, finished.body);
    } catch (error) {
      if (isPassing(error)) return this.wait(finished, error);
      this.end();
      saver.goOn();
      return this.refused(task, error);
    }
    saver.finish();
    this.desk.clock.send();
    try {
      await this.desk.taking.goOn();
    } finally {
      this.end();
    }
    this.desk.tell(finished.done);
  }

  /** Nothing answered. It may have arrived all the same, so nothing is changed meanwhile. */
  wait(finished, error) {
    finished.isOnItsWay = false;
    this.waiting = finished;
    this.desk.list.setReadOnly(true);
    this.desk.notices.waiting(error.isSignedOut ? texts.signed_out : texts.submit_waits);
    clearTimeout(finished.timer);
    finished.timer = setTimeout(() => this.again(), finished.wait);
    finished.wait = Math.min(finished.wait * 2, LONGEST_WAIT);
  }

  again() {
    const { waiting } = this;
    if (!waiting || waiting.isOnItsWay) return;
    clearTimeout(waiting.timer);
    return this.send(waiting);
  }

  /** The person wants to go on working on it; what did arrive is told by the next save. */
  stopWaiting() {
    const { waiting } = this;
    if (!waiting || waiting.isOnItsWay) return;
    this.end();
    this.desk.list.setReadOnly(false);
    this.desk.notices.clear();
    waiting.saver.goOn();
    this.desk.cursor.start(waiting.task);
  }

  end() {
    clearTimeout(this.waiting?.timer);
    this.waiting = null;
    this.isBusy = false;
    this.desk.notices.saved();
  }

  refused(task, error) {
    const { cursor, list, notices } = this.desk;
    if (!(error instanceof Refused)) throw error;
    notices.clear();
    list.setReadOnly(false);
    if (error.problem.code === "lease_lost") return this.desk.lost(error.problem);
    const problems = error.problem.problems ?? [];
    for (const { pointer, message } of problems) {
      const field = task.byPath.get(pointer);
      if (field) Object.assign(field, { problem: message, decision: null });
      if (field) list.update(field);
    }
    this.desk.changed();
    notices.say(say("submit_refused", { reason: problems[0]?.message ?? error.problem.detail ?? "" }), "error");
    const first = task.byPath.get(problems[0]?.pointer);
    if (first) cursor.to(first);
  }
}
