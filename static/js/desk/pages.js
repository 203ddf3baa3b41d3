// Which page of the task is shown, with its boxes, words and crops.

import { NoConnection, Refused, texts } from "./api.js";

export class Pages {
  constructor(desk) {
    this.desk = desk;
    this.current = null;
  }

  async show(page) {
    const { task } = this.desk;
    this.current = page;
    this.desk.thumbs.current(page, task.pages.length);
    try {
      const image = await this.desk.viewer.show(page);
      if (this.desk.task !== task || this.current !== page) return;
      this.desk.list.crops(page.page_number, image);
      this.desk.viewer.setWords([]);
      this.boxes();
      this.desk.picker.load(task, page).then((words) => this.current === page && this.desk.task === task && this.desk.viewer.setWords(words));
      const { field } = this.desk.cursor;
      if (field?.box?.page === page.page_number) this.desk.viewer.fly(field.box.bbox);
    } catch (error) {
      if (error instanceof Refused || error instanceof NoConnection || error instanceof DOMException) this.desk.notices.say(texts.failed, "error");
      else throw error;
    }
  }

  boxes() {
    if (!this.current) return;
    const here = this.desk.task.fields.filter((field) => field.box?.page === this.current.page_number);
    this.desk.viewer.setBoxes(here.map((field) => ({ field, bbox: field.box.bbox, isAsked: field.isAsked })));
  }

  turn(step) {
    const at = this.desk.task.pages.indexOf(this.current);
    const page = this.desk.task.pages[at + step];
    if (page) this.show(page);
  }
}
