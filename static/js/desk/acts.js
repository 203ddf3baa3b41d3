// Everything that a key or a button does, by name, and what the page tells of focus and typing.

/** The acts of a desk; each takes the button that was pressed, if it was one. */
function actsOf(desk) {
  const { answers, cursor, dialogs, finish, list, pages, taking, types, viewer } = desk;
  const candidate = (at) => (button) => answers.choose(cursor.fieldOf(button) ?? cursor.field, at);
  return {
    submit: () => finish.submit(),
    "accept-all": () => finish.acceptAll(),
    "keep-working": () => finish.stopWaiting(),
    undo: () => answers.undo(),
    skip: () => finish.pass("skip"),
    unusable: () => finish.pass("unusable"),
    type: () => types.ask(),
    "take-type": () => types.take(),
    "keep-type": () => types.keep(),
    missing: () => answers.strike("spurious"),
    illegible: () => answers.strike("illegible"),
    "candidate-1": candidate(0),
    "candidate-2": candidate(1),
    "candidate-3": candidate(2),
    evidence: () => list.toggleEvidence(cursor.field),
    edit: () => cursor.field && cursor.to(cursor.field),
    help: () => dialogs.keys(),
    pick: () => pickWords(viewer),
    "look-again": () => taking.next(),
    "take-again": () => taking.again(),
    "take-next": () => taking.leave(),
    "keep-mine": (button) => answers.settle(cursor.fieldOf(button), true),
    "keep-theirs": (button) => answers.settle(cursor.fieldOf(button), false),
    "close-dialog": (button) => button.closest("dialog").close(),
    "next-row": () => cursor.walk(1),
    "previous-row": () => cursor.walk(-1),
    "previous-page": () => desk.task && pages.turn(-1),
    "next-page": () => desk.task && pages.turn(1),
    "zoom-in": () => viewer.zoom(1.4),
    "zoom-out": () => viewer.zoom(1 / 1.4),
    "zoom-fit": () => viewer.fit(),
    rotate: () => viewer.rotate(),
  };
}

function pickWords(viewer) {
  const isPicking = !viewer.isPicking;
  viewer.setPicking(isPicking);
  document.querySelector("[data-act=pick]").setAttribute("aria-pressed", String(isPicking));
}

/** Listen to the fields and the buttons of the page; `desk.act(name)` does by name what a key stands for. */
export function listenToPage(desk) {
  const acts = actsOf(desk);
  desk.act = (name, button) => acts[name]?.(button);
  const { answers, cursor } = desk;
  const { root } = desk.list;
  // A press on a button beside a text leaves the focus in the text.
  root.addEventListener("mousedown", (event) => event.target.closest("button") && event.preventDefault());
  root.addEventListener("focusin", (event) => cursor.entered(event.target));
  root.addEventListener("focusout", (event) => {
    const field = cursor.fieldOf(event.target);
    if (field && event.target.matches(".field-input")) answers.left(field);
  });
  root.addEventListener("input", (event) => {
    const field = cursor.fieldOf(event.target);
    if (field) answers.typed(field, event.target.value);
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button && desk.root.parentElement.contains(button)) desk.act(button.dataset.act, button);
  });
  // A key that is held down confirms once; it does not submit.
  document.getElementById("submit").addEventListener("keydown", (event) => event.repeat && event.preventDefault());
  addEventListener("beforeunload", (event) => {
    // Kept on this computer anyway; only a task without that is worth a question.
    if (desk.saver?.unsaved.length && !desk.saver.isKept) event.preventDefault();
  });
}
