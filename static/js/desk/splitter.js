// The line between page and fields: moved by mouse and by arrows, remembered on this computer.

const KEY = "stet:desk:split";
const LEAST = 25;
const MOST = 75;

export function makeSplitter(splitter, sides) {
  const set = (percent) => {
    const share = Math.max(LEAST, Math.min(MOST, Math.round(percent)));
    sides.style.setProperty("--split", `${share}fr`);
    sides.style.setProperty("--split-rest", `${100 - share}fr`);
    splitter.setAttribute("aria-valuenow", String(share));
    return share;
  };
  const remember = (percent) => {
    const share = set(percent);
    try {
      localStorage.setItem(KEY, String(share));
    } catch {
      // Not remembered; the page still works.
    }
  };
  let share = Number(localStorage.getItem(KEY)) || 58;
  set(share);
  splitter.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -2, ArrowRight: 2, PageUp: -10, PageDown: 10, Home: -100, End: 100 }[event.key];
    if (!step) return;
    event.preventDefault();
    share = Math.max(LEAST, Math.min(MOST, Number(splitter.getAttribute("aria-valuenow")) + step));
    remember(share);
  });
  splitter.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    splitter.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const { left, width } = sides.getBoundingClientRect();
      remember(((moved.clientX - left) / width) * 100);
    };
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("lostpointercapture", () => splitter.removeEventListener("pointermove", move), { once: true });
  });
}
