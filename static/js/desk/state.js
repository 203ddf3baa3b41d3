// What a task holds, and what a verdict follows from. No element of the page is touched here.

import { labelOf, pathOf, texts } from "./api.js";

export function asText(value) {
  return value === null || value === undefined ? "" : String(value);
}

/** One value of a document: what the reader gave, what was saved, what stands in the field right now. */
export class Field {
  constructor(data) {
    this.path = data.field_path;
    this.label = labelOf(data.labels, data.field_path);
    this.valueType = data.value_type;
    this.isRequired = data.is_required;
    this.isToExamine = data.is_to_examine;
    this.nLines = Math.min(data.max_lines ?? (data.value_type === "address" ? 3 : 1), 4);
    this.band = data.band;
    this.reasons = data.reasons ?? [];
    this.sentences = data.why ?? null;
    this.evidenceLine = data.evidence_line ?? "";
    this.candidates = data.candidates ?? [];
    this.answers = data.answers ?? [];
    this.prediction = data.prediction;
    this.edit = data.edit;
    // A save without a verdict took a decision back: its version counts, the field is as it was read.
    const saved = data.edit?.verdict ? data.edit : null;
    this.decision = saved ? { verdict: saved.verdict, by: saved.author } : null;
    this.text = asText(saved ? saved.value : data.prediction?.value);
    // What the server has confirmed to keep: the text as it was typed, for it may write the value in another form.
    this.acknowledged = { text: this.text, verdict: saved?.verdict ?? null };
    this.conflict = null;
    this.problem = "";
  }

  get version() {
    return this.edit?.version ?? 0;
  }

  get predicted() {
    return asText(this.prediction?.value);
  }

  get box() {
    return this.prediction?.bbox ? { page: this.prediction.page_number, bbox: this.prediction.bbox } : null;
  }

  /** Whether this person still has to look at it. */
  get isAsked() {
    return this.isToExamine && this.decision === null;
  }

  /** A word of the desk: person, missing, broken, doubtful, check or ok. */
  get state() {
    if (this.decision) return "person";
    if (this.prediction === null || this.prediction.value === null) return "missing";
    if (this.reasons.includes("rule_failed")) return "broken";
    if (this.prediction.findings?.length || this.band === "review") return "doubtful";
    return this.isToExamine ? "check" : "ok";
  }

  /** The answer that the text amounts to, as the API takes it: none as long as it stands as read and nobody decided. */
  get answer() {
    const text = this.text.trim();
    if (this.isIllegible) return { verdict: "illegible", value: null };
    if (text === this.predicted.trim()) return { verdict: this.decision === null ? null : "confirmed", value: null };
    if (text === "") return { verdict: "spurious", value: null };
    return { verdict: "corrected", value: text };
  }

  /** Decide that the text is right, or, with "illegible", that nobody can read it. */
  decide(by, verdict = "confirmed") {
    this.decision = { verdict, by };
    this.decision.verdict = this.answer.verdict;
    this.problem = "";
  }

  get isIllegible() {
    return this.decision?.verdict === "illegible";
  }

  /** Whether what stands here differs from what the server keeps. */
  get isUnsaved() {
    if (this.isIllegible !== (this.acknowledged.verdict === "illegible")) return true;
    if ((this.answer.verdict === null) !== (this.acknowledged.verdict === null)) return true;
    return !this.isIllegible && this.text.trim() !== this.acknowledged.text.trim();
  }

  /** Why it is to be looked at, in sentences. */
  get why() {
    if (this.decision) return [];
    if (Array.isArray(this.sentences)) return this.sentences.length ? this.sentences : [this.evidenceLine].filter(Boolean);
    const findings = (this.prediction?.findings ?? []).filter((code) => code !== "not_found");
    const made = ["missing_value", "rule_failed", "ambiguous_value", "schema_invalid", "low_quality"];
    const reasons = this.reasons.filter((code) => !(findings.length && made.includes(code)));
    const codes = [...findings, ...reasons].map((code) => (code.startsWith("schema_") ? "schema" : code));
    return [...new Set(codes)].map((code) => texts.codes[code] ?? code.replaceAll("_", " "));
  }

  /** What to choose from: what two people said, otherwise other values that the page shows, the likeliest first. */
  get choices() {
    if (this.answers.length) return this.answers.map(({ verdict, value }) => ({ verdict, text: asText(value) }));
    const values = this.candidates.map((one) => asText(one.value ?? one.text)).filter((text) => text && text !== this.predicted);
    return [...new Set(values)].slice(0, 3).map((text) => ({ verdict: null, text }));
  }

  get sureness() {
    const confidence = this.prediction?.confidence;
    if (confidence === null || confidence === undefined) return texts.unknown;
    return texts.sureness_steps.find(([bound]) => confidence >= bound)?.[1] ?? texts.unlikely;
  }

  snapshot() {
    return { path: this.path, text: this.text, decision: this.decision };
  }
}

/** A leased task with its fields in the schema's order. */
export class Task {
  constructor(given) {
    const data = given.task;
    this.id = data.id;
    this.document = data.document;
    this.filename = data.filename;
    this.documentType = data.document_type;
    this.suggestion = data.suggestion ?? null;
    this.reasons = data.document_reasons ?? [];
    this.whyYou = [data.why_you ?? []].flat().join(" · ");
    // Addresses without their host: behind a proxy the server may know itself by another name.
    this.pages = data.pages.map((page) => ({ ...page, image: pathOf(page.image) }));
    this.groups = data.groups ?? [];
    this.rules = data.rules ?? [];
    this.token = given.lease_token;
    this.expiresAt = Date.parse(given.lease_expires_at);
    this.fields = data.fields.map((one) => new Field(one));
    this.byPath = new Map(this.fields.map((field) => [field.path, field]));
    this.past = [];
    this.isLost = false;
  }

  get asked() {
    return this.fields.filter((field) => field.isAsked);
  }

  get nToExamine() {
    return this.fields.filter((field) => field.isToExamine).length;
  }

  /** The next field to look at after `field`, round the corner; null when all are decided. */
  nextAsked(field) {
    const start = field ? this.fields.indexOf(field) + 1 : 0;
    return [...this.fields.slice(start), ...this.fields.slice(0, start)].find((one) => one.isAsked) ?? null;
  }

  /** Single fields, without the cells of tables. */
  get singles() {
    return this.fields.filter((field) => !this.groups.some((group) => field.path.startsWith(`${group.path}/`)));
  }

  addField(data) {
    const field = new Field(data);
    this.fields.push(field);
    this.byPath.set(field.path, field);
    return field;
  }

  /** The sentence about why this person sees this document. */
  get reasonSentence() {
    if (this.whyYou) return this.whyYou;
    const codes = this.reasons.map((code) => (code.startsWith("schema_") ? "schema" : code));
    return [...new Set(codes)].map((code) => texts.codes[code] ?? code.replaceAll("_", " ")).join(" · ");
  }

  get verdicts() {
    const answered = this.fields.filter((field) => field.decision !== null || field.isUnsaved);
    return answered.map((field) => ({ field_path: field.path, ...field.answer }));
  }
}
