// Every key of the desk. A letter is a command only while no text is edited, and nothing fires while composing.

import { tinykeys } from "../../vendor/tinykeys.mjs";

/** Whether an input method is at work: its Enter chooses a word, it confirms nothing. */
export function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

function isText(target) {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

function isElsewhere(event) {
  return Boolean(document.querySelector("dialog[open]")) || Boolean(event.target.closest?.(".bar, dialog"));
}

/** Bind the keys of `desk`; return what unbinds them. */
export function bindKeys(desk) {
  const act = (name) => (event) => {
    event.preventDefault();
    desk.act(name);
  };
  const letters = {
    m: act("missing"), i: act("illegible"), u: act("undo"), s: act("skip"), x: act("unusable"), t: act("type"), e: act("evidence"), p: act("pick"),
    r: act("rotate"), "Shift+?": act("help"), "?": act("help"), "[": act("previous-page"), "]": act("next-page"),
    "[Shift]++": act("zoom-in"), "=": act("zoom-in"), "-": act("zoom-out"), 0: act("zoom-fit"),
    1: act("candidate-1"), 2: act("candidate-2"), 3: act("candidate-3"),
    ArrowDown: act("next-row"), ArrowUp: act("previous-row"), F2: act("edit"),
  };
  const always = { "Control+Enter": act("accept-all"), "Meta+Enter": act("accept-all") };
  const unbind = [
    tinykeys(window, letters, { ignore: (event) => isComposing(event) || isElsewhere(event) || isText(event.target) || event.target.closest?.(".splitter") }),
    tinykeys(window, always, { ignore: (event) => event.repeat || isComposing(event) || isElsewhere(event) }),
    tinykeys(desk.list.root, inFields(desk), { ignore: (event) => isComposing(event) || event.target.matches("button") }),
  ];
  return () => unbind.forEach((one) => one());
}

function inFields(desk) {
  return {
    Enter: (event) => {
      event.preventDefault();
      if (!event.repeat) desk.answers.confirm();
    },
    Escape: (event) => {
      event.preventDefault();
      desk.cursor.leaveText();
    },
  };
}
