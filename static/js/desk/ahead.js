// The task after this one: taken, and its first page fetched, while this one is worked on.

import { call, now, pathOf, picture } from "./api.js";

const LEAST_LEFT = 5_000;

export class Ahead {
  constructor(desk) {
    this.desk = desk;
    this.given = null;
    addEventListener("pagehide", () => this.release());
  }

  fetch(task) {
    this.given = null;
    this.asked = this.ask(task);
    return this.asked;
  }

  async ask(task) {
    const given = await call("POST", "lease/", { besides: task.id }).catch(() => null);
    // Not given back when it comes too late: by then it may be the very task that is open.
    if (!given?.task || this.desk.task !== task) return;
    this.given = given;
    if (given.task.pages.length) picture(pathOf(given.task.pages[0].image)).catch(() => undefined);
  }

  /** Return what was taken, once it is known; null when there is nothing or its time is nearly over. */
  async take() {
    await this.asked;
    const { given } = this;
    this.given = null;
    const isGood = given && Date.parse(given.lease_expires_at) > now() + LEAST_LEFT;
    return isGood ? given : null;
  }

  release() {
    if (this.given) this.giveBack(this.given);
    this.given = null;
  }

  giveBack(given) {
    const body = { lease_token: given.lease_token };
    return call("POST", `${given.task.id}/release/`, body, { keepalive: true }).catch(() => null);
  }
}
