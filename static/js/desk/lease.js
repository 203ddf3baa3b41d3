// How long the task is ours: counted down, renewed while somebody works, warned about before it ends.

import { Refused, call, now, say, texts } from "./api.js";

const SHORT = 60_000;
const IDLE_AFTER = 300_000;

export class Lease {
  constructor(element, onLost) {
    this.element = element;
    this.onLost = onLost;
    this.task = null;
    this.lastActive = Date.now();
    this.isAsking = false;
    for (const name of ["keydown", "pointerdown", "pointermove", "wheel"]) {
      addEventListener(name, () => (this.lastActive = Date.now()), { passive: true, capture: true });
    }
    setInterval(() => this.tick(), 1000);
  }

  hold(task) {
    if (task !== this.task) {
      this.task = task;
      this.length = Math.max(1, task ? task.expiresAt - now() : 1);
    }
    this.tick();
  }

  tick() {
    const { task } = this;
    if (!task || task.isLost) {
      this.element.textContent = "";
      return;
    }
    const left = task.expiresAt - now();
    const seconds = Math.max(0, Math.ceil(left / 1000));
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    this.element.textContent = left <= 0 ? texts.lease_over : say(left < SHORT ? "lease_short" : "lease", { time });
    this.element.classList.toggle("is-short", left < SHORT);
    const isActive = Date.now() - this.lastActive < IDLE_AFTER;
    if (isActive && left < this.length * 0.8) this.renew();
  }

  async renew() {
    if (this.isAsking) return;
    this.isAsking = true;
    const { task } = this;
    try {
      const lease = await call("POST", `${task.id}/heartbeat/`, { lease_token: task.token });
      task.expiresAt = Date.parse(lease.lease_expires_at);
    } catch (error) {
      if (error instanceof Refused && error.problem.code === "lease_lost" && task === this.task) this.onLost(error.problem);
    } finally {
      setTimeout(() => (this.isAsking = false), 5_000);
    }
  }
}
