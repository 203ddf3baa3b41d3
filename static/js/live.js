// The events of a project, from where the page stands. Reconnects with the last id it saw and misses nothing.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 30_000;
const REMEMBERED = 5_000;

const texts = document.getElementById("texts")?.dataset ?? {};
const indicator = document.getElementById("live-state");

function show(state) {
  if (!indicator) return;
  const words = { live: texts.live, reconnecting: texts.reconnecting }[state];
  if (indicator.dataset.state === state) return;
  indicator.dataset.state = state;
  indicator.textContent = words;
  indicator.hidden = false;
}

/**
 * Call `onEvent` for every event that the page does not show yet, each once. `socket`, `after` and `gaps` are the data
 * of an element that says where the page stands: all up to `after` but what lies in a gap was there when it was drawn.
 * The server may tell of such events again.
 */
export function listen({ socket: path, after, gaps }, onEvent) {
  const drawn = Number(after);
  const open = JSON.parse(gaps);
  let last = drawn;
  let wait = FIRST_WAIT;
  let timer = 0;
  let socket = null;
  const seen = new Set();

  function connect() {
    clearTimeout(timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}${path}?after=${last}`);
    socket.addEventListener("open", () => {
      wait = FIRST_WAIT;
      show("live");
    });
    socket.addEventListener("message", (message) => receive(JSON.parse(message.data)));
    socket.addEventListener("close", retry);
  }

  function isShown(id) {
    return id <= drawn && !open.some(([first, end]) => first <= id && id <= end);
  }

  function receive(event) {
    if (seen.has(event.id) || isShown(event.id)) return;
    seen.add(event.id);
    if (seen.size > REMEMBERED) seen.delete(seen.values().next().value);
    last = Math.max(last, event.id);
    onEvent(event);
  }

  function retry() {
    show("reconnecting");
    clearTimeout(timer);
    // Spread out, so that a restarted server is not met by everybody at once.
    timer = setTimeout(connect, wait * (0.5 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  function reconnectNow() {
    if (socket.readyState === WebSocket.CLOSED) {
      wait = FIRST_WAIT;
      connect();
    }
  }

  addEventListener("online", reconnectNow);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && reconnectNow());
  connect();
}
