// The two dialogs: the list of keys, and why a document is passed on.

export class Dialogs {
  constructor() {
    this.keyList = document.getElementById("keys-dialog");
    this.reasons = document.getElementById("reason-dialog");
  }

  keys() {
    if (!this.keyList.open) this.keyList.showModal();
  }

  /** Ask for a reason; null when the person thinks better of it. */
  reason(title, suggestion) {
    const input = document.getElementById("reason-text");
    document.getElementById("reason-title").textContent = title;
    input.value = suggestion;
    this.reasons.returnValue = "";
    this.reasons.showModal();
    input.focus();
    input.select();
    return new Promise((resolve) => {
      const done = () => resolve(this.reasons.returnValue === "send" && input.value.trim() ? input.value.trim() : null);
      this.reasons.addEventListener("close", done, { once: true });
    });
  }
}
