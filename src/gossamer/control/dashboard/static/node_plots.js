// Plots of each node: what it brought and what it has to do, over the last half hour.

import { h, web } from "./dom.js";
import { bytes, count, figure, short } from "./format.js";
import { Plot } from "./plot.js";

/**
 * @import { History, NodeView } from "api"
 * @import { Context } from "./shell.js"
 * @typedef {{ element: HTMLElement, pages: Plot, queue: Plot, memory: Plot }} Shown
 */

const SECONDS = 1800;
const EVERY = 5000;
/** Of more nodes the table tells enough. */
const MOST = 12;

export class NodePlots {
  #context;
  /** @type {Map<string, Shown>} */
  #shown = new Map();
  #asked = 0;
  element = h("div", {});

  /** @param {Context} context */
  constructor(context) {
    this.#context = context;
    context.signal.addEventListener("abort", () => { for (const one of this.#shown.values()) close(one); });
  }

  /** @param {NodeView[]} nodes */
  show(nodes) {
    const names = nodes.slice(0, MOST).map(({ id }) => id);
    for (const [name, one] of this.#shown) {
      if (names.includes(name)) continue;
      close(one);
      one.element.remove();
      this.#shown.delete(name);
    }
    for (const name of names) if (!this.#shown.has(name)) this.#add(name);
    if (Date.now() - this.#asked < EVERY) return;
    this.#asked = Date.now();
    for (const name of names) this.#load(name);
  }

  /** @param {string} name */
  #add(name) {
    const one = {
      pages: new Plot({ title: "Pages", unit: "per second", format: (value) => `${figure(value)}/s`, axis: short }),
      queue: new Plot({ title: "Queue", unit: "URLs", format: count, axis: short }),
      memory: new Plot({ title: "Memory", unit: "bytes", format: bytes, axis: bytes, base: 1024 }),
    };
    const element = h("section", { class: "node-plots", "aria-label": `Plots of ${name}` }, h("h2", {}, web(name)), h("div", { class: "plots thirds" }, Object.values(one).map((plot) => plot.element)));
    this.#shown.set(name, { element, ...one });
    this.element.append(element);
  }

  /** @param {string} name */
  async #load(name) {
    const { api, signal, live } = this.#context;
    try {
      const past = await api.get("/nodes/{node}/history", { path: { node: name }, query: { seconds: SECONDS }, signal });
      const one = this.#shown.get(name);
      if (!one || signal.aborted) return;
      draw(one, past, live.status.time);
      // Of a node that does not run none is to come.
      one.element.hidden = live.status.read_only !== null && !past.times.length;
    } catch {
      // A node that is gone, or a line that is broken: the table and the mark say so.
    }
  }
}

/**
 * @param {Shown} one
 * @param {History} past
 * @param {number} now
 */
function draw(one, past, now) {
  const { times } = past;
  // Of a crawl that does not run nobody wrote down what each node did when.
  one.element.hidden = times.length === 0;
  /** @type {[number, number]} */
  const span = [Math.min(times[0] ?? now, now - 60), now];
  const { pages = [], urls_queued: queued = [], rss = [] } = past.columns;
  const rates = times.map((time, at) => {
    const passed = time - (times[at - 1] ?? time);
    return passed > 0 ? Math.max(0, ((pages[at] ?? 0) - (pages[at - 1] ?? 0)) / passed) : null;
  });
  one.pages.show({ times, span, series: [{ label: "pages", colour: 1, values: rates }], least: 1 });
  one.queue.show({ times, span, series: [{ label: "queued", colour: 5, values: queued }], least: 10 });
  one.memory.show({ times, span, series: [{ label: "memory", colour: 2, values: rss }], least: 1024 * 1024 });
}

/** @param {Shown} one */
function close(one) {
  for (const plot of [one.pages, one.queue, one.memory]) plot.close();
}
