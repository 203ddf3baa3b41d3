// The pages of a longer document, small, with a mark where something is doubtful.

import { say } from "./api.js";
import { element, icon } from "./fields.js";

export class Thumbs {
  constructor(root, onPage) {
    this.root = root;
    this.onPage = onPage;
    this.number = document.getElementById("page-number");
    this.buttons = new Map();
  }

  build(task) {
    this.buttons.clear();
    this.root.hidden = task.pages.length < 2;
    this.root.replaceChildren();
    if (this.root.hidden) return;
    for (const page of task.pages) {
      const image = element("img", { src: page.image, alt: "", loading: "lazy", width: 48, height: Math.round((48 * page.height) / page.width) });
      const mark = element("span", { class: "thumb-mark" });
      const button = element("button", { type: "button", class: "thumb" }, image, element("span", { class: "number" }, String(page.page_number)), mark);
      button.addEventListener("mousedown", (event) => event.preventDefault());
      button.addEventListener("click", () => this.onPage(page));
      this.buttons.set(page.page_number, { button, mark, page });
      this.root.append(button);
    }
  }

  mark(task) {
    const doubtful = new Set(task.asked.map((field) => field.box?.page));
    const total = task.pages.length;
    for (const [n, { button, mark }] of this.buttons) {
      const isDoubtful = doubtful.has(n);
      mark.replaceChildren(...(isDoubtful ? [icon("doubtful")] : []));
      button.setAttribute("aria-label", say(isDoubtful ? "page_doubtful" : "page_of", { n, total }));
    }
  }

  current(page, total) {
    this.number.textContent = `${page.page_number} / ${total}`;
    for (const [n, { button }] of this.buttons) {
      if (n === page.page_number) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    }
    this.buttons.get(page.page_number)?.button.scrollIntoView({ block: "nearest" });
  }
}
