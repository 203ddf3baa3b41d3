// The rows beside the page: one for each single field. A row keeps its height whatever happens to it.

import { say, settings, texts } from "./api.js";

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name.includes("-") || name === "for") made.setAttribute(name, value);
    else if (name === "data") Object.assign(made.dataset, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

export function icon(state) {
  const template = document.getElementById(`icon-${state}`) ?? document.getElementById("icon-ok");
  return template.content.firstElementChild.cloneNode(true);
}

/** What differs between two texts: the common beginning, both middles, the common end. */
export function difference(before, after) {
  const a = [...before], b = [...after];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return {
    start: a.slice(0, start).join(""),
    gone: a.slice(start, a.length - end).join(""),
    come: b.slice(start, b.length - end).join(""),
    end: a.slice(a.length - end).join(""),
  };
}

export function markWords(field) {
  if (field.state !== "person") {
    if (field.state === "ok") return field.sureness;
    const word = field.state === "check" ? texts.state_check : texts[`state_${field.state}`];
    return field.prediction?.value === null || field.prediction === null ? word : `${word} · ${field.sureness}`;
  }
  const by = field.decision.by === settings.user || !field.decision.by ? texts.by_you : say("by_person", { name: field.decision.by });
  return `${by}: ${texts[`verdict_${field.decision.verdict}`] ?? field.decision.verdict}`;
}

/** Draw the part of the page around a box into a canvas, a little of its surroundings included. */
export function drawCrop(canvas, image, bbox) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth || 320, height = canvas.clientHeight || 44;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const [x0, y0, x1, y1] = bbox;
  const boxHeight = Math.max(8, (y1 - y0) * image.naturalHeight), boxWidth = (x1 - x0) * image.naturalWidth;
  const tall = Math.max(boxHeight * 1.5, ((boxWidth * 1.06) / width) * height);
  const wide = (tall / height) * width;
  const left = Math.max(0, x0 * image.naturalWidth - Math.min((wide - boxWidth) / 2, boxHeight));
  const top = ((y0 + y1) / 2) * image.naturalHeight - tall / 2;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(image, left, top, wide, tall, 0, 0, canvas.width, canvas.height);
}

export class FieldList {
  constructor(root) {
    this.root = root;
    this.rows = new Map();
  }

  /** Build all rows of a task; `group` adds the tables. */
  build(task, buildTable) {
    this.task = task;
    this.rows.clear();
    const list = element("ol", { class: "rows" });
    task.singles.forEach((field, number) => list.append(this.row(field, number)));
    const tables = task.groups.map((group) => buildTable(group));
    this.root.replaceChildren(list, ...tables);
    this.root.scrollTop = 0;
  }

  row(field, number) {
    const id = `field-${number}`;
    const input = element(field.nLines > 1 ? "textarea" : "input", {
      id,
      class: "field-input",
      autocomplete: "off",
      spellcheck: false,
      data: { path: field.path },
      "aria-describedby": `${id}-why`,
      "aria-required": String(field.isRequired),
    });
    if (field.nLines > 1) input.rows = field.nLines;
    else input.type = "text";
    const evidence = element("div", { class: "field-evidence", id: `${id}-evidence`, hidden: true });
    const parts = {
      input,
      evidence,
      mark: element("span", { class: "mark" }),
      why: element("p", { class: "field-why", id: `${id}-why` }),
      crop: field.isToExamine ? element("canvas", { class: "field-crop", role: "img", "aria-label": say("crop_of", { field: field.label }) }) : null,
      toggle: element("button", { type: "button", class: "plain evidence-toggle", "aria-expanded": "false", "aria-controls": `${id}-evidence`, tabIndex: -1 }, texts.evidence),
      extra: element("div", { class: "field-extra" }),
    };
    parts.row = element(
      "li",
      { class: field.isToExamine ? "field is-asked" : "field", tabIndex: -1, data: { path: field.path } },
      element("div", { class: "field-head" }, element("label", { for: id, class: "field-name" }, field.label), parts.mark),
      ...(parts.crop ? [parts.crop] : []),
      input,
      element("div", { class: "field-line" }, parts.why, parts.toggle),
      ...(field.isToExamine ? [element("p", { class: "field-hint" }, texts.examine_hint)] : []),
      evidence,
      parts.extra,
    );
    parts.toggle.addEventListener("click", () => this.toggleEvidence(field));
    this.rows.set(field.path, parts);
    this.update(field);
    return parts.row;
  }

  adopt(field, parts) {
    this.rows.set(field.path, parts);
    this.update(field);
  }

  input(field) {
    return this.rows.get(field.path)?.input;
  }

  update(field) {
    const parts = this.rows.get(field.path);
    if (!parts) return;
    const { state } = field;
    parts.row.dataset.state = state;
    parts.row.classList.toggle("is-open", field.isAsked);
    parts.row.classList.toggle("is-unsaved", field.isUnsaved);
    if (parts.input.value !== field.text) parts.input.value = field.text;
    parts.input.setAttribute("aria-invalid", String(Boolean(field.problem)));
    if (parts.isCell) {
      parts.input.title = [markWords(field), field.problem, ...field.why].filter(Boolean).join(" · ");
      return;
    }
    const words = markWords(field) + (field.isUnsaved ? ` · ${texts.unsaved}` : "");
    if (parts.mark.textContent !== words) parts.mark.replaceChildren(icon(state), element("span", {}, words));
    this.explain(field, parts);
    this.conflict(field, parts);
  }

  explain(field, { why, toggle }) {
    why.classList.toggle("is-problem", Boolean(field.problem));
    why.replaceChildren();
    if (field.problem) why.append(field.problem);
    else if (field.text.trim() !== field.predicted.trim() || field.isIllegible) why.append(...this.original(field));
    else why.append(...this.reading(field));
    why.classList.toggle("has-chips", why.querySelector(".chip") !== null);
    why.title = why.textContent;
    toggle.hidden = field.decision !== null || !Object.keys(field.prediction?.evidence ?? {}).length;
  }

  original(field) {
    if (!field.predicted) return [texts.reader_nothing];
    const { start, gone, end } = difference(field.predicted, field.text);
    const [before, after] = say("reader_gave", { value: "\u0000" }).split("\u0000");
    return [before, start, element("del", {}, gone), end, after];
  }

  /** What the reading rests on, how it was printed, and what else stands there to choose from. */
  reading(field) {
    const told = field.state === "broken" || !field.evidenceLine ? field.why.join(" · ") : field.evidenceLine;
    const raw = field.prediction?.raw_text;
    const printed = raw && raw.replace(/\s+/g, " ") !== field.predicted.replace(/\s+/g, " ") ? say("printed_as", { value: raw }) : "";
    const choices = field.isAsked ? field.choices : [];
    const chips = choices.map(({ verdict, text }, at) => {
      const shown = verdict === "illegible" ? texts.verdict_illegible : text || texts.verdict_spurious;
      return element("button", { type: "button", class: "chip", tabIndex: -1, data: { act: `candidate-${at + 1}`, path: field.path }, title: `${at + 1}: ${shown}` }, shown);
    });
    return [element("span", {}, [told, chips.length ? "" : printed].filter(Boolean).join(" · ")), ...chips];
  }

  conflict(field, { extra }) {
    extra.replaceChildren();
    if (!field.conflict) return;
    const theirs = field.conflict.value ?? "";
    const choose = (side, value) =>
      element("button", { type: "button", data: { act: side, path: field.path } }, say(side === "keep-mine" ? "keep_mine" : "keep_theirs", { value: value || texts.empty_value }));
    extra.append(element("p", { class: "field-conflict", role: "alert" }, icon("broken"), texts.conflict), choose("keep-mine", field.text), choose("keep-theirs", theirs));
  }

  toggleEvidence(field) {
    const parts = this.rows.get(field?.path);
    if (!parts?.toggle || parts.toggle.hidden) return;
    const isOpen = parts.evidence.hidden;
    parts.evidence.hidden = !isOpen;
    parts.toggle.setAttribute("aria-expanded", String(isOpen));
    const numbers = Object.entries(field.prediction?.evidence ?? {}).map(([name, number]) => [texts.evidence_names[name] ?? name, Number(number).toFixed(2)]);
    const confidence = field.prediction?.confidence;
    if (confidence !== null && confidence !== undefined) numbers.push([texts.sureness, confidence.toFixed(2)]);
    parts.evidence.replaceChildren(element("dl", {}, ...numbers.map(([name, number]) => element("div", {}, element("dt", {}, name), element("dd", {}, number)))));
  }

  /** Draw the crops of the fields that stand on this page. */
  crops(pageNumber, image) {
    for (const field of this.task.fields) {
      const { crop } = this.rows.get(field.path) ?? {};
      if (crop && field.box?.page === pageNumber) drawCrop(crop, image, field.box.bbox);
    }
  }

  current(field) {
    for (const parts of this.rows.values()) parts.row.classList.remove("is-current");
    this.rows.get(field?.path)?.row.classList.add("is-current");
  }

  setReadOnly(isReadOnly) {
    for (const { input } of this.rows.values()) input.readOnly = isReadOnly;
  }
}

