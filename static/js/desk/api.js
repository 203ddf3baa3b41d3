// Talking to the server: one function for every request, and every failure told apart.

export const settings = JSON.parse(document.getElementById("desk-settings").textContent);
export const texts = settings.texts;

/** The server answered, and the answer is no. `problem` is its problem document. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.code ?? String(status));
    this.status = status;
    this.problem = problem;
  }

  /** Whether the same request may work later: a busy database, too many requests, a failed server. */
  get isPassing() {
    return this.status >= 500 || this.status === 429;
  }

  get isSignedOut() {
    return this.status === 401 || (this.status === 403 && ["not_authenticated", "csrf_failed"].includes(this.problem.code));
  }
}

/** Nothing answered. */
export class NoConnection extends Error {}

export function say(name, values = {}) {
  return String(texts[name] ?? name).replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

/** A label in the page's language, English where there is none. */
export function labelOf(labels, fallback = "") {
  const language = document.documentElement.lang.split("-")[0];
  return labels?.[language] || labels?.en || fallback;
}

export function pathOf(address) {
  const { pathname, search } = new URL(address, location.href);
  return pathname + search;
}

let ahead = 0;

/** The server's time: leases end by its clock, not by this computer's. */
export function now() {
  return Date.now() + ahead;
}

// Signing in again in another tab changes the token, so it is looked up each time.
function csrfToken() {
  const cookie = document.cookie.split("; ").find((one) => one.startsWith("csrftoken="));
  return cookie ? cookie.slice("csrftoken=".length) : document.querySelector("[name=csrfmiddlewaretoken]").value;
}

/** Send JSON to `path` under the review tasks of the project; return what comes back, null for nothing. */
export async function call(method, path, body, options = {}) {
  return request(method, settings.api + path, body, options);
}

export async function request(method, address, body, options = {}) {
  const headers = { Accept: "application/json", "X-CSRFToken": csrfToken() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(address, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      signal: options.keepalive ? undefined : AbortSignal.timeout(15_000),
      ...options,
    });
  } catch {
    throw new NoConnection();
  }
  const date = Date.parse(answer.headers.get("Date"));
  if (date) ahead = date + 500 - Date.now();
  if (answer.status === 204) return null;
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, content ?? {});
  if (content === null) throw new NoConnection();
  return content;
}

// Pictures are fetched once: the viewer, the crops and the thumbnails all show the same copy.
const pictures = new Map();
const KEPT = 12;

export function picture(address) {
  if (!pictures.has(address)) {
    const loading = fetch(address, { credentials: "same-origin" })
      .catch(() => Promise.reject(new NoConnection()))
      .then((answer) => (answer.ok ? answer.blob() : Promise.reject(new Refused(answer.status, {}))))
      .then(async (blob) => {
        const url = URL.createObjectURL(blob);
        const image = new Image();
        image.src = url;
        await image.decode();
        return { url, image };
      });
    loading.catch(() => pictures.delete(address));
    pictures.set(address, loading);
    if (pictures.size > KEPT) forgetOldest();
  }
  return pictures.get(address);
}

function forgetOldest() {
  const [address, loading] = pictures.entries().next().value;
  pictures.delete(address);
  loading.then(({ url }) => setTimeout(() => URL.revokeObjectURL(url), 60_000), () => undefined);
}
