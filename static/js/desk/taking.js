// Taking tasks: the next one, the same one again, and what happens in the queue meanwhile.

import { Refused, call, settings, texts } from "./api.js";

const SKELETON_AFTER = 300;
const LOOK_AGAIN_AFTER = 5_000;
const QUEUE_STEPS = { "review_task.created": 1, "review_task.submitted": -1, "review_task.unusable": -1, "review_task.cancelled": -1 };
const MAY_BE_TAKEN = new Set(["review_task.created", "review_task.released", "review_task.skipped"]);

export class Taking {
  constructor(desk) {
    this.desk = desk;
    // What this person finished, by document: a second look at it is not for them, and they are not told of it.
    this.finished = new Map();
  }

  /** A task is finished here: what follows from it counts for others. */
  leftBehind(task) {
    this.finished.set(task.document, task.id);
  }

  async next() {
    const { desk } = this;
    if (desk.root.dataset.state !== "empty") desk.setState("loading");
    desk.types.show(null);
    const skeleton = setTimeout(() => desk.tell(texts.loading), SKELETON_AFTER);
    try {
      desk.receive(await call("POST", "lease/", {}));
    } catch (error) {
      this.failed(error);
    } finally {
      clearTimeout(skeleton);
    }
  }

  failed(error) {
    const isOut = error instanceof Refused && error.isSignedOut;
    this.desk.notices.say(isOut ? texts.signed_out : texts.failed, "error");
    setTimeout(() => this.desk.task === null && this.next(), LOOK_AGAIN_AFTER);
  }

  /** After a task is finished: the one that was kept ready, otherwise the next. */
  async goOn() {
    const { desk } = this;
    const given = await desk.ahead.take();
    desk.task = null;
    desk.lease.hold(null);
    desk.clock.begin(null);
    if (!given) return this.next();
    desk.receive(given);
    // It was kept as long as the one before; from here on it has a time of its own.
    desk.lease.renew();
  }

  /** Go on after a task was lost; what was kept ready behind it is lost with it. */
  leave() {
    this.desk.ahead.given = null;
    this.desk.task = null;
    return this.next();
  }

  /** Take the task that was lost again. */
  async again() {
    try {
      this.desk.receive(await call("POST", `${this.desk.task.id}/lease/`));
    } catch (error) {
      this.desk.notices.say(error.problem?.detail ?? texts.failed, "error");
    }
  }

  /** Something moved in the project's queue. */
  happened({ name, payload }) {
    const { desk } = this;
    const counter = document.getElementById("n-waiting");
    const own = this.finished.get(payload?.document_id);
    const isForOthers = own !== undefined && own !== payload.task_id;
    const step = isForOthers ? 0 : (QUEUE_STEPS[name] ?? 0);
    if (counter && step) counter.textContent = String(Math.max(0, Number(counter.textContent) + step));
    const mayBeTaken = MAY_BE_TAKEN.has(name) && !isForOthers;
    if (mayBeTaken && desk.root.dataset.state === "empty") return this.next();
    const isOurs = payload?.task_id === desk.task?.id && payload?.holder !== settings.user;
    if (isOurs && name.startsWith("review_task.") && !desk.finish.isBusy) desk.lease.renew();
    if (mayBeTaken && desk.task && !desk.ahead.given && !desk.finish.isBusy) desk.ahead.fetch(desk.task);
  }
}
