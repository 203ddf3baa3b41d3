// The page: OpenSeadragon for zoom, pan and rotation, one canvas over it for every box and word.

import { picture } from "./api.js";

// A classic script that main.js loads beside the modules: its name is looked up when a viewer is made, not when this file is read.
/* global OpenSeadragon */
const WORD_GRID = 32;

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Shows one page at a time. Boxes are [x0, y0, x1, y1] in shares of the page. */
export class Viewer {
  constructor(element, { onBox, onPick, onArea, onRegion }) {
    this.element = element;
    this.heard = { onBox, onPick, onArea, onRegion };
    this.boxes = [];
    this.words = [];
    this.grid = new Map();
    this.focused = null;
    this.hovered = null;
    this.isPicking = false;
    this.drag = null;
    this.address = "";
    preventInlineStyle();
    this.osd = OpenSeadragon({
      element,
      drawer: "canvas",
      showNavigationControl: false,
      showNavigator: false,
      animationTime: still.matches ? 0 : 0.25,
      blendTime: 0,
      minZoomImageRatio: 0.5,
      maxZoomPixelRatio: 4,
      visibilityRatio: 0.3,
      zoomPerScroll: 1.25,
      gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: false, flickEnabled: !still.matches },
      keyboardNavEnabled: false,
    });
    this.canvas = document.createElement("canvas");
    this.canvas.className = "boxes-layer";
    this.canvas.setAttribute("aria-hidden", "true");
    element.append(this.canvas);
    // The desk's own keys: the page takes no focus, and a click on it does not take the focus from a field.
    this.osd.canvas.tabIndex = -1;
    this.osd.canvas.focus = () => undefined;
    this.osd.canvas.removeAttribute("role");
    element.addEventListener("mousedown", (event) => event.preventDefault(), true);
    for (const name of ["update-viewport", "resize", "open", "rotate"]) this.osd.addHandler(name, () => this.draw());
    this.osd.addHandler("canvas-press", (event) => this.press(event));
    this.osd.addHandler("canvas-drag", (event) => this.dragged(event));
    this.osd.addHandler("canvas-drag-end", (event) => this.released(event));
    this.osd.addHandler("canvas-click", (event) => this.clicked(event));
    element.addEventListener("mousemove", (event) => this.moved(event));
    element.addEventListener("mouseleave", () => this.hover(null));
  }

  /** Show a page's picture; resolves once it can be looked at. */
  async show(page) {
    this.address = page.image;
    const { url, image } = await picture(page.image);
    if (this.address !== page.image) return image;
    this.image = image;
    await new Promise((resolve) => {
      this.osd.addOnceHandler("open", resolve);
      this.osd.addOnceHandler("open-failed", resolve);
      this.osd.open({ type: "image", url });
    });
    this.fitWidth();
    this.element.dataset.shown = page.page_number;
    return image;
  }

  clear() {
    this.address = "";
    this.boxes = [];
    this.words = [];
    this.grid.clear();
    this.focused = null;
    this.osd.close();
    delete this.element.dataset.shown;
    this.draw();
  }

  get item() {
    return this.osd.world.getItemAt(0);
  }

  fitWidth() {
    if (!this.item) return;
    const bounds = this.item.getBounds();
    const view = this.osd.viewport.getBounds();
    const height = Math.min(bounds.height, (bounds.width * view.height) / view.width);
    this.osd.viewport.fitBounds(new OpenSeadragon.Rect(0, 0, bounds.width, height), true);
  }

  fit() {
    this.osd.viewport.setRotation(0);
    this.osd.viewport.goHome(still.matches);
  }

  zoom(factor) {
    this.osd.viewport.zoomBy(factor);
    this.osd.viewport.applyConstraints();
  }

  rotate() {
    this.osd.viewport.rotateBy(90, still.matches);
  }

  /** Fly to a box with about a third of the page around it. */
  fly(bbox) {
    this.focused = bbox;
    if (!bbox || !this.item) return this.draw();
    const { width, height } = this.item.getBounds();
    const [x0, y0, x1, y1] = bbox;
    const w = Math.min(1, Math.max((x1 - x0) * 1.3, 0.75)) * width;
    const h = Math.min(1, Math.max((y1 - y0) * 2, 0.3)) * height;
    const x = Math.max(0, Math.min(width - w, ((x0 + x1) / 2) * width - w / 2));
    const y = Math.max(0, Math.min(height - h, ((y0 + y1) / 2) * height - h / 2));
    this.osd.viewport.fitBounds(new OpenSeadragon.Rect(x, y, w, h), still.matches);
    this.draw();
  }

  setBoxes(boxes) {
    this.boxes = boxes;
    this.draw();
  }

  setWords(words) {
    this.words = words;
    this.grid.clear();
    for (const word of words) {
      for (const cell of cellsOf(word.bbox)) {
        if (!this.grid.has(cell)) this.grid.set(cell, []);
        this.grid.get(cell).push(word);
      }
    }
    this.draw();
  }

  setPicking(isPicking) {
    this.isPicking = isPicking;
    this.element.classList.toggle("is-picking", isPicking);
    this.draw();
  }

  /** The affine map from shares of the page to pixels of the view: [origin, along x, along y]. */
  frame() {
    if (!this.item) return null;
    const { width, height } = this.item.getBounds(true);
    const at = (x, y) => this.osd.viewport.pixelFromPoint(new OpenSeadragon.Point(x * width, y * height), true);
    return [at(0, 0), at(1, 0), at(0, 1)];
  }

  toPage(pixel) {
    const { width, height } = this.item.getBounds(true);
    const point = this.osd.viewport.pointFromPixel(new OpenSeadragon.Point(pixel.x, pixel.y), true);
    return [point.x / width, point.y / height];
  }

  draw() {
    const { clientWidth, clientHeight } = this.element;
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(clientWidth * ratio) || this.canvas.height !== Math.round(clientHeight * ratio)) {
      this.canvas.width = Math.round(clientWidth * ratio);
      this.canvas.height = Math.round(clientHeight * ratio);
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, clientWidth, clientHeight);
    const frame = this.frame();
    if (!frame) return;
    const style = getComputedStyle(this.element);
    const accent = style.getPropertyValue("--box-ink").trim() || "#1b4f9c";
    const amber = style.getPropertyValue("--box-amber").trim() || "#9a6700";
    if (this.isPicking) this.stroke(context, frame, this.words.map((word) => word.bbox), { colour: accent, alpha: 0.35, width: 1 });
    this.stroke(context, frame, this.boxes.filter((one) => !one.isAsked).map((one) => one.bbox), { colour: accent, alpha: 0.6, width: 1 });
    this.stroke(context, frame, this.boxes.filter((one) => one.isAsked).map((one) => one.bbox), { colour: amber, alpha: 0.9, width: 1.5 });
    if (this.hovered) this.stroke(context, frame, [this.hovered], { colour: accent, alpha: 0.8, width: 1, fill: 0.12 });
    if (this.focused) this.stroke(context, frame, [this.focused], { colour: accent, alpha: 1, width: 3, fill: 0.08 });
    if (this.drag?.bbox) this.stroke(context, frame, [this.drag.bbox], { colour: amber, alpha: 1, width: 2, fill: 0.15 });
  }

  stroke(context, [origin, right, down], boxes, { colour, alpha, width, fill = 0 }) {
    const ax = right.x - origin.x, ay = right.y - origin.y, bx = down.x - origin.x, by = down.y - origin.y;
    context.beginPath();
    for (const [x0, y0, x1, y1] of boxes) {
      context.moveTo(origin.x + ax * x0 + bx * y0, origin.y + ay * x0 + by * y0);
      context.lineTo(origin.x + ax * x1 + bx * y0, origin.y + ay * x1 + by * y0);
      context.lineTo(origin.x + ax * x1 + bx * y1, origin.y + ay * x1 + by * y1);
      context.lineTo(origin.x + ax * x0 + bx * y1, origin.y + ay * x0 + by * y1);
      context.closePath();
    }
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width;
    if (fill) {
      context.globalAlpha = fill;
      context.fill();
    }
    context.globalAlpha = alpha;
    context.stroke();
    context.globalAlpha = 1;
  }

  // The pointer. Shift and drag marks an area to be read again; Alt, or picking, marks words.

  press(event) {
    const { shiftKey, altKey } = event.originalEvent;
    if (!this.item || !(shiftKey || altKey || this.isPicking)) return;
    this.drag = { start: this.toPage(event.position), bbox: null, isRegion: shiftKey };
  }

  dragged(event) {
    if (!this.drag) return;
    event.preventDefaultAction = true;
    const [x, y] = this.toPage(event.position);
    const [x0, y0] = this.drag.start;
    this.drag.bbox = [Math.min(x0, x), Math.min(y0, y), Math.max(x0, x), Math.max(y0, y)].map((one) => Math.max(0, Math.min(1, one)));
    this.draw();
  }

  released(event) {
    const { bbox, isRegion } = this.drag ?? {};
    if (this.drag) event.preventDefaultAction = true;
    this.drag = null;
    this.draw();
    if (!bbox || bbox[2] - bbox[0] < 0.004 || bbox[3] - bbox[1] < 0.002) return;
    if (isRegion) this.heard.onRegion(bbox);
    else this.heard.onArea(this.words.filter((word) => isInside(word.bbox, bbox)));
  }

  clicked(event) {
    if (!event.quick || !this.item) return;
    this.drag = null;
    const point = this.toPage(event.position);
    const word = this.wordAt(point);
    const box = smallest(this.boxes.filter((one) => one.bbox !== this.focused && contains(one.bbox, point)));
    const mayPick = this.isPicking || event.originalEvent.altKey || !box;
    if (word && mayPick) this.heard.onPick(word);
    else if (box) this.heard.onBox(box);
  }

  wordAt([x, y]) {
    const found = this.grid.get(cellAt(x, y)) ?? [];
    return smallest(found.filter((word) => contains(word.bbox, [x, y]))) ?? null;
  }

  moved(event) {
    if (!this.item || this.drag) return;
    const frame = this.element.getBoundingClientRect();
    const point = this.toPage({ x: event.clientX - frame.left, y: event.clientY - frame.top });
    this.hover(this.wordAt(point)?.bbox ?? null);
  }

  hover(bbox) {
    if (this.hovered === bbox) return;
    this.hovered = bbox;
    this.draw();
  }
}

/** The library adds an inline style sheet unless it finds one of its own; ours is none, and breaks no policy. */
function preventInlineStyle() {
  const inert = document.createElementNS("urn:stet", "style");
  inert.setAttribute("data-openseadragon-mobile-css", "true");
  document.head.append(inert);
}

function contains([x0, y0, x1, y1], [x, y]) {
  return x >= x0 && x <= x1 && y >= y0 && y <= y1;
}

function isInside(word, area) {
  return contains(area, [(word[0] + word[2]) / 2, (word[1] + word[3]) / 2]);
}

function smallest(found) {
  const size = ({ bbox: [x0, y0, x1, y1] }) => (x1 - x0) * (y1 - y0);
  return found.sort((one, other) => size(one) - size(other))[0];
}

function cellAt(x, y) {
  return Math.floor(x * WORD_GRID) * 1000 + Math.floor(y * WORD_GRID);
}

function* cellsOf([x0, y0, x1, y1]) {
  for (let x = Math.floor(x0 * WORD_GRID); x <= Math.floor(x1 * WORD_GRID); x += 1) {
    for (let y = Math.floor(y0 * WORD_GRID); y <= Math.floor(y1 * WORD_GRID); y += 1) yield x * 1000 + y;
  }
}
