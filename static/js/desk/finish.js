// Finishing a task: submitted, passed on, or given up. What the server refuses comes back to its field.

import { NoConnection, Refused, call, say, texts } from "./api.js";

export class Finish {
  constructor(desk) {
    this.desk = desk;
    this.isBusy = false;
  }

  async submit() {
    const { task } = this.desk;
    if (!task || this.isBusy || task.isLost) return;
    const open = task.asked[0];
    if (open) return this.desk.focus(open);
    await this.finish(`${task.id}/submit/`, { verdicts: task.verdicts }, texts.submitted);
  }

  async acceptAll() {
    const { task } = this.desk;
    if (!task || this.isBusy || task.isLost) return;
    const asked = task.asked;
    this.desk.remember(asked.map((field) => field.snapshot()));
    if (this.desk.field?.isUnsaved) this.desk.decide(this.desk.field, this.desk.field.isIllegible ? "illegible" : null);
    asked.forEach((field) => this.desk.decide(field));
    asked.forEach((field) => this.desk.list.update(field));
    this.desk.changed();
    await this.submit();
  }

  async finish(path, body, done) {
    const { task, saver } = this.desk;
    if (task.fields.some((field) => field.conflict)) return this.desk.focus(task.fields.find((field) => field.conflict));
    this.isBusy = true;
    try {
      await saver.hold();
      await call("POST", path, { lease_token: task.token, ...body });
      saver.finish();
      this.desk.clock.send();
      await this.desk.goOn();
      this.desk.tell(done);
    } catch (error) {
      saver.goOn();
      this.refusedFinish(task, error);
    } finally {
      this.isBusy = false;
    }
  }

  refusedFinish(task, error) {
    if (!(error instanceof Refused)) {
      if (!(error instanceof NoConnection)) throw error;
      this.desk.notices.say(texts.offline, "warning");
      return;
    }
    if (error.problem.code === "lease_lost") return this.desk.lost(error.problem);
    const problems = error.problem.problems ?? [];
    for (const { pointer, message } of problems) {
      const field = task.byPath.get(pointer);
      if (field) Object.assign(field, { problem: message, decision: null });
      if (field) this.desk.list.update(field);
    }
    const first = task.byPath.get(problems[0]?.pointer);
    this.desk.changed();
    this.desk.notices.say(say("submit_refused", { reason: problems[0]?.message ?? error.problem.detail ?? "" }), "error");
    if (first) this.desk.focus(first);
  }

  async pass(kind) {
    if (!this.desk.task || this.desk.task.isLost) return;
    const { task, field } = this.desk;
    const reason = await this.desk.dialogs.reason(texts[`${kind}_title`], texts[`${kind}_reason`]);
    if (reason === null || this.desk.task !== task) return field && this.desk.focus(field, { asRow: true });
    await this.finish(`${task.id}/${kind}/`, { reason }, kind === "skip" ? texts.skipped : texts.set_unusable);
  }
}
