// Words of the page into the focused field, and areas that are read again.

import { Refused, call, request, say, settings, texts } from "./api.js";
import { element } from "./fields.js";

const ASK_EVERY = 150;
const PATIENCE = 20_000;

/** Words joined as they stand: top to bottom, left to right; Chinese without spaces. */
export function joined(words) {
  const lines = [];
  for (const word of [...words].sort((one, other) => one.bbox[1] + one.bbox[3] - other.bbox[1] - other.bbox[3])) {
    const middle = (word.bbox[1] + word.bbox[3]) / 2;
    const line = lines.find((one) => middle > one.top && middle < one.bottom);
    if (line) line.words.push(word);
    else lines.push({ top: word.bbox[1], bottom: word.bbox[3], words: [word] });
  }
  const ordered = lines.flatMap((line) => line.words.sort((one, other) => one.bbox[0] - other.bbox[0]));
  return ordered.reduce((text, word) => glue(text, word.text), "");
}

export function glue(before, after) {
  const isHan = /[\u3000-\u9fff\uff00-\uffef]$/.test(before) && /^[\u3000-\u9fff\uff00-\uffef]/.test(after);
  return !before || !after ? before + after : before + (isHan ? "" : " ") + after;
}

export class Picker {
  constructor(desk) {
    this.desk = desk;
    this.words = new Map();
    this.last = null;
    this.offer = null;
  }

  /** Fetch the words of a page once; an old server has none. */
  async load(task, page) {
    const key = `${task.document}/${page.page_number}`;
    if (!this.words.has(key)) {
      const address = `${settings.documents_api}${task.document}/pages/${page.page_number}/words/`;
      const loading = request("GET", address).then((answer) => answer.words, () => []);
      this.words.set(key, loading);
      if (this.words.size > 20) this.words.delete(this.words.keys().next().value);
    }
    return this.words.get(key);
  }

  /** One word: the first click replaces what the reader gave, each further click adds. */
  pick(word) {
    const { field } = this.desk.cursor;
    if (!field) return;
    const isFurther = this.last?.field === field && this.last.text === field.text;
    const text = isFurther ? glue(field.text, word.text) : word.text;
    this.fill(field, text, isFurther);
  }

  area(words) {
    const { field } = this.desk.cursor;
    if (field && words.length) this.fill(field, joined(words), false);
  }

  fill(field, text, isFurther) {
    const { answers } = this.desk;
    if (!answers.isOpen) return;
    if (!isFurther) answers.remember([field.snapshot()]);
    answers.write(field, text);
    this.last = { field, text };
    this.desk.tell(say("picked", { value: text }));
  }

  /** Have an area read again at a higher resolution, and offer what it says. */
  async region(page, bbox) {
    const { task } = this.desk;
    const { field } = this.desk.cursor;
    if (!field) return;
    this.desk.tell(texts.region_reading);
    try {
      const body = { page_number: page.page_number, bbox, field_path: field.path };
      let region = await call("POST", `${task.id}/regions/`, body);
      const until = Date.now() + PATIENCE;
      while (!["done", "failed"].includes(region.state) && Date.now() < until && this.desk.task === task) {
        await new Promise((resolve) => setTimeout(resolve, ASK_EVERY));
        region = await call("GET", `${task.id}/regions/${region.id}/`);
      }
      if (this.desk.task === task) this.show(field, region.value ?? region.text ?? "");
    } catch (error) {
      this.desk.tell(error instanceof Refused ? (error.problem.detail ?? texts.region_nothing) : texts.failed);
    }
  }

  show(field, value) {
    this.close();
    if (!value) return this.desk.tell(texts.region_nothing);
    const parts = this.desk.list.rows.get(field.path);
    const take = element("button", { type: "button", class: "primary" }, texts.region_take);
    const leave = element("button", { type: "button" }, texts.region_leave);
    take.addEventListener("click", () => {
      this.close();
      this.fill(field, value, false);
      parts.input.focus();
    });
    leave.addEventListener("click", () => {
      this.close();
      parts.input.focus();
    });
    this.offer = element("div", { class: "region-offer", role: "status" }, element("span", {}, say("region_offer", { value })), take, leave);
    this.desk.notice.append(this.offer);
    this.desk.tell("");
    take.focus();
  }

  close() {
    this.offer?.remove();
    this.offer = null;
    this.last = null;
  }
}
