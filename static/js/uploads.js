// Sending files: many at once, each with its progress and its outcome in words.

const AT_ONCE = 3;

const texts = document.getElementById("texts").dataset;

function send(form, file, onProgress) {
  return new Promise((resolve) => {
    const body = new FormData(form);
    body.delete("files");
    body.append("files", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRFToken", body.get("csrfmiddlewaretoken"));
    request.upload.addEventListener("progress", (event) => event.lengthComputable && onProgress(event.loaded / event.total));
    request.addEventListener("load", () => resolve(outcome(request)));
    request.addEventListener("error", () => resolve({ message: texts.noConnection }));
    request.send(body);
  });
}

function outcome(request) {
  const isJson = (request.getResponseHeader("Content-Type") ?? "").startsWith("application/json");
  if (isJson) return JSON.parse(request.responseText);
  // A page instead of an answer: sign-in after a redirect, or an error page.
  const isSignIn = request.status === 200 || request.status === 403;
  return { message: isSignIn ? texts.signedOut : texts.serverFailed };
}

function link(address, words) {
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.textContent = words;
  return anchor;
}

class Item {
  constructor(template, file) {
    this.file = file;
    this.row = template.content.firstElementChild.cloneNode(true);
    this.row.querySelector(".name").textContent = file.name;
    this.bar = this.row.querySelector("progress");
    this.bar.setAttribute("aria-label", file.name);
    this.words = this.row.querySelector(".outcome");
    this.words.textContent = texts.queued;
    this.retry = this.row.querySelector(".retry");
  }

  async send(form) {
    this.row.classList.remove("failed");
    this.retry.hidden = true;
    this.words.textContent = texts.sending;
    const answer = await send(form, this.file, (share) => (this.bar.value = share));
    this.bar.value = answer.url ? 1 : 0;
    this.row.classList.toggle("failed", !answer.url);
    this.retry.hidden = Boolean(answer.url);
    if (!answer.url) this.words.textContent = answer.message;
    else this.words.replaceChildren(link(answer.is_duplicate ? answer.original_url : answer.url, answer.message));
  }
}

/** Send whatever is chosen in the form or dropped on `zone`. */
export function acceptFiles(zone, form, list, template) {
  const input = form.querySelector("input[type=file]");
  const waiting = [];
  let atWork = 0;

  function pump() {
    while (atWork < AT_ONCE && waiting.length) {
      const item = waiting.shift();
      atWork += 1;
      item.send(form).finally(() => {
        atWork -= 1;
        pump();
      });
    }
  }

  function add(files) {
    for (const file of files) {
      const item = new Item(template, file);
      item.retry.addEventListener("click", () => {
        waiting.push(item);
        pump();
      });
      list.append(item.row);
      waiting.push(item);
    }
    pump();
  }

  input.addEventListener("change", () => {
    add([...input.files]);
    input.value = "";
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    zone.classList.add("is-target");
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && zone.classList.remove("is-target"));
  addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    zone.classList.remove("is-target");
    add([...event.dataTransfer.files]);
  });
  addEventListener("beforeunload", (event) => {
    if (atWork) event.preventDefault();
  });
}
