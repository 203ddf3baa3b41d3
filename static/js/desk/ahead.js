// The task after this one: taken, and its first page fetched, while this one is worked on.

import { call, pathOf, picture } from "./api.js";

const LEAST_LEFT = 5_000;

export class Ahead {
  constructor(desk) {
    this.desk = desk;
    this.given = null;
    addEventListener("pagehide", () => this.release());
  }

  async fetch(task) {
    this.given = null;
    const given = await call("POST", "lease/", { besides: task.id }).catch(() => null);
    if (!given?.task) return;
    if (this.desk.task !== task) return this.giveBack(given);
    this.given = given;
    if (given.task.pages.length) picture(pathOf(given.task.pages[0].image)).catch(() => undefined);
  }

  /** Return what was taken, null when there is nothing or its time is nearly over. */
  take() {
    const { given } = this;
    this.given = null;
    const isGood = given && Date.parse(given.lease_expires_at) > Date.now() + LEAST_LEFT;
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
