// A page whose settings somebody else changed says so. It is not loaded anew by itself: what is typed in it stays.

import { listen } from "./live.js";

const notice = document.getElementById("changes");

if (notice) {
  const { events, about } = notice.dataset;
  const names = new Set(events.split(" "));
  listen(notice.dataset, ({ name, payload }) => {
    if (names.has(name) && (about === undefined || payload.document_type === about)) notice.hidden = false;
  });
}
