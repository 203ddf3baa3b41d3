// Active seconds for each field and for the whole task. Who looks away for half a minute is not at work.

import { call } from "./api.js";

const IDLE_AFTER = 30_000;
const SEND_EVERY = 60;

export class Clock {
  constructor() {
    this.lastActive = Date.now();
    this.isOffered = true;
    for (const name of ["keydown", "pointerdown", "pointermove", "wheel"]) {
      addEventListener(name, () => (this.lastActive = Date.now()), { passive: true, capture: true });
    }
    setInterval(() => this.tick(), 1000);
    addEventListener("pagehide", () => this.send({ keepalive: true }));
  }

  begin(task) {
    this.task = task;
    this.seconds = new Map();
    this.total = 0;
    this.field = null;
  }

  tick() {
    const isActive = document.visibilityState === "visible" && Date.now() - this.lastActive < IDLE_AFTER;
    if (!this.task || !isActive) return;
    this.total += 1;
    // "" is the task as a whole.
    for (const path of new Set(["", this.field?.path ?? ""])) this.seconds.set(path, (this.seconds.get(path) ?? 0) + 1);
    if (this.total % SEND_EVERY === 0) this.send();
  }

  /** Send what was counted since the last time; a repeated request counts once, by its key. */
  async send(options = {}) {
    if (!this.task || !this.seconds.size || !this.isOffered) return;
    const entries = [...this.seconds].map(([field_path, seconds]) => ({ field_path, seconds }));
    this.seconds = new Map();
    const body = { client_key: key(), entries };
    await call("POST", `${this.task.id}/time/`, body, options).catch((error) => {
      if (error.status === 404) this.isOffered = false;
    });
  }
}

/** Random enough to be nobody else's; also where the page is not on a secure address. */
function key() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
