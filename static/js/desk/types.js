// Which type a document is of: what it looks like, and moving it to another one, which takes it off the desk.

import { Refused, request, say, settings, texts } from "./api.js";
import { element } from "./fields.js";

export class Types {
  constructor(desk) {
    this.desk = desk;
    this.line = document.getElementById("desk-looks");
    this.dialog = document.getElementById("type-dialog");
    this.choice = document.getElementById("type-choice");
    // Enter on a list of choices sends nothing by itself.
    this.choice?.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      // Closing moves the focus: the same key would press the button that opened the dialog once more.
      event.preventDefault();
      this.dialog.close("move");
    });
    this.dialog?.addEventListener("close", () => this.dialog.returnValue === "move" && this.move(this.choice.value));
  }

  labelOf(slug) {
    return settings.types.find((one) => one.slug === slug)?.label ?? slug;
  }

  /** Say above a task what it looks like, if that is not its type. */
  show(task) {
    const found = task?.suggestion;
    this.line.hidden = !found;
    this.line.replaceChildren();
    if (!found) return;
    const type = this.labelOf(found.document_type);
    const percent = (100 * found.chance).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 0 });
    this.line.append(
      element("span", {}, say("looks_like", { type, chance: percent, n: found.n_documents })),
      " ",
      element("button", { type: "button", data: { act: "take-type" } }, say("move_to", { type })),
      " ",
      element("button", { type: "button", class: "plain", data: { act: "keep-type" } }, say("type_right", { type: this.labelOf(task.documentType) })),
    );
  }

  /** Ask which type it is; what it looks like is chosen already. */
  ask() {
    const { finish, task } = this.desk;
    if (!this.dialog || !task || task.isLost || finish.isBusy) return;
    this.choice.value = task.suggestion?.document_type ?? task.documentType;
    this.dialog.returnValue = "";
    this.dialog.showModal();
    this.choice.focus();
  }

  take() {
    return this.desk.task?.suggestion && this.move(this.desk.task.suggestion.document_type);
  }

  keep() {
    return this.desk.task?.suggestion && this.move(this.desk.task.documentType);
  }

  async move(slug) {
    const { desk } = this;
    const { finish, saver, task } = desk;
    if (!task || task.isLost || finish.isBusy) return;
    const isKept = slug === task.documentType;
    finish.isBusy = true;
    await saver.hold();
    try {
      await request("POST", `${settings.documents_api}${task.document}/type/`, { document_type: slug });
    } catch (error) {
      saver.goOn();
      finish.end();
      desk.notices.say(error instanceof Refused ? (error.problem.problems?.[0]?.message ?? error.problem.detail) : texts.failed, "error");
      return;
    }
    if (isKept) {
      saver.goOn();
      finish.end();
      task.suggestion = null;
      this.show(task);
      return desk.cursor.start(task);
    }
    saver.finish();
    desk.clock.send();
    try {
      await desk.taking.goOn();
    } finally {
      finish.end();
    }
    desk.tell(say("moved_to", { type: this.labelOf(slug) }));
  }
}
