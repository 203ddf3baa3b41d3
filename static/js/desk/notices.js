// What the desk says: one line above the page, and in the foot whether everything is saved.

import { say, settings, texts } from "./api.js";
import { element, icon } from "./fields.js";

const QUIET_AFTER = 6_000;

export class Notices {
  constructor(desk) {
    this.desk = desk;
    this.foot = document.getElementById("desk-saved");
    this.line = element("p", { class: "notice-line" });
    desk.notice.append(this.line);
  }

  say(text, kind = "info") {
    clearTimeout(this.timer);
    this.line.className = `notice-line is-${kind}`;
    this.line.textContent = text;
    if (kind === "info" && text) this.timer = setTimeout(() => this.say(""), QUIET_AFTER);
  }

  clear() {
    this.say("");
    this.desk.notice.replaceChildren(this.line);
  }

  /** Finished here, not yet at the server: it is sent by itself, and one may go back to it. */
  waiting(text) {
    if (this.line.firstChild?.textContent === text) return;
    this.say(text, "warning");
    this.line.append(" ", element("button", { type: "button", data: { act: "keep-working" } }, texts.keep_working));
  }

  /** How the last save went. */
  transfer(what) {
    if (what === "offline") this.say(texts.offline, "warning");
    else if (what === "signed_out") this.say(texts.signed_out, "warning");
    else if (what === "saved" && this.line.classList.contains("is-warning")) this.say("");
    this.saved();
  }

  /** The foot: saved, saving, not saved yet. */
  saved() {
    const { saver, task } = this.desk;
    if (!task || !saver) {
      this.foot.textContent = "";
      return;
    }
    const unsaved = saver.unsaved.length;
    const seconds = Math.round((Date.now() - saver.savedAt) / 1000);
    let text = saver.savedAt ? (seconds < 60 ? say("saved_ago", { n: Math.max(0, seconds) }) : texts.saved) : texts.nothing_typed;
    if (unsaved) text = saver.isSaving ? texts.saving : texts.unsaved;
    const { isWaiting } = this.desk.finish;
    if (isWaiting) text = texts.not_submitted;
    this.foot.dataset.state = unsaved || isWaiting ? "unsaved" : "saved";
    // Only a change is worth announcing: the seconds stand in an attribute that no reader reads out.
    if (this.foot.textContent !== text) this.foot.textContent = text;
  }

  /** Nothing to do: why, and what one can do; return the button to look again. */
  empty(given) {
    const n = given.reason === "skipped_by_you" ? given.queue?.n_skipped : given.queue?.n_open;
    const again = element("button", { type: "button", class: "primary", data: { act: "look-again" } }, texts.look_again);
    document.getElementById("desk-empty").replaceChildren(
      element("h2", {}, texts.none_waits),
      element("p", { id: "desk-empty-why" }, say(given.reason ?? "nothing_waits", { n: n ?? 0 })),
      element("p", { class: "dialog-acts" }, again, element("a", { class: "button", href: settings.documents }, texts.to_documents)),
    );
    return again;
  }

  /** The task is somebody else's now: show what was typed and never arrived. */
  lost(problem, unsaved) {
    const name = problem.holder;
    const lead = name ? say("lost", { name }) : texts.lost_free;
    const kept = unsaved.length
      ? element("dl", { class: "kept" }, ...unsaved.map((field) => element("div", {}, element("dt", {}, field.label), element("dd", {}, field.text || texts.empty_value))))
      : element("p", {}, texts.lost_nothing);
    const again = element("button", { type: "button", data: { act: "take-again" } }, texts.take_again);
    const next = element("button", { type: "button", class: "primary", data: { act: "take-next" } }, texts.take_next);
    this.say("");
    this.desk.notice.append(
      element("div", { class: "message error lost", role: "alert" }, icon("broken"), element("div", {}, element("p", {}, lead), kept, element("p", { class: "dialog-acts" }, next, again))),
    );
    next.focus();
  }
}
