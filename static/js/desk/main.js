// The first thing that runs: take a task and ask for its page at once; the rest of the desk loads meanwhile.

import { call, pathOf, picture, settings } from "./api.js";

/** A task for this person: the one that the address names, otherwise the next. */
function leaseFirst() {
  if (settings.task) return call("POST", `${settings.task}/lease/`).catch(() => call("POST", "lease/", {}));
  return call("POST", "lease/", {});
}

function loadScript(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}

const given = await leaseFirst().catch(() => null);
if (given?.task?.pages.length) picture(pathOf(given.task.pages[0].image)).catch(() => undefined);
const viewer = loadScript(document.getElementById("desk").dataset.viewer);
const [{ Desk }] = await Promise.all([import("./desk.js"), viewer]);
const desk = new Desk();
await (given === null ? desk.taking.next() : desk.receive(given));
