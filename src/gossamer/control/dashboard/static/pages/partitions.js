// Partitions: a map of who owns what, how much each holds, and what is moving.

import { keepAsking } from "../asking.js";
import { fill, h, s, say, select, web } from "../dom.js";
import { count, counted, percent } from "../format.js";
import { Table } from "../table.js";

/**
 * @import { PartitionMap, PartitionView } from "api"
 * @import { Context } from "../shell.js"
 * @import { Column } from "../table.js"
 * @typedef {"queued" | "pages" | "hosts"} Metric
 * @typedef {{ hosts: number, queued: number, pages: number }} Sizes
 * @typedef {Sizes & { node: string | null, colour: number, partitions: number, share: string }} Owner
 * @typedef {Sizes & { first: number, last: number, node: string | null, to: string | null }} Cell
 */

const MOST_CELLS = 4096;
/** @type {[Metric, string][]} */
const METRICS = [["queued", "URLs queued"], ["pages", "pages"], ["hosts", "hosts"]];

/** @type {Record<Metric, [string, string]>} one, and many */
const UNITS = { queued: ["URL queued", "URLs queued"], pages: ["page", "pages"], hosts: ["host", "hosts"] };

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, signal } = context;
  /** @type {Metric} */
  let metric = "queued";
  /** @type {PartitionMap | null} */
  let map = null;
  const summary = h("p", { class: "hint" });
  const picture = new Picture();
  const choose = select(METRICS, metric, () => { metric = METRICS.find(([key]) => key === choose.value)?.[0] ?? metric; draw(); });
  /** @type {Column<Owner>[]} */
  const columns = [
    { label: "Owner", order: (owner) => owner.node, of: (owner) => [owner.node, owner.colour], draw: ({ node, colour }) => h("span", {}, h("span", { class: `swatch c${colour}` }), node === null ? "nobody" : web(node)) },
    { label: "Partitions", number: true, order: (owner) => owner.partitions, of: (owner) => count(owner.partitions) },
    { label: "Share", number: true, of: (owner) => owner.share },
    { label: "Hosts", number: true, order: (owner) => owner.hosts, of: (owner) => count(owner.hosts) },
    { label: "Queued", number: true, order: (owner) => owner.queued, of: (owner) => count(owner.queued) },
    { label: "Pages", number: true, order: (owner) => owner.pages, of: (owner) => count(owner.pages) },
  ];
  const owners = new Table({ caption: "Owners of partitions", className: "cards", key: (owner) => owner.node ?? "", columns });
  const moves = h("div", {});
  root.append(
    h("h1", {}, "Partitions"),
    summary,
    h(
      "section",
      { class: "card" },
      h("div", { class: "section-head" }, h("h2", {}, "Map"), h("label", { class: "inline" }, "Shade by ", choose)),
      picture.element,
    ),
    h("h2", {}, "Owners"),
    owners.element,
    h("section", { class: "card" }, h("h2", {}, "Moves under way"), moves),
  );
  const draw = () => {
    if (!map) return;
    const names = [...new Set(map.partitions.map((one) => one.node))].filter((node) => node !== null).toSorted();
    /** @param {string | null} node */
    const colour = (node) => (node === null ? 9 : (names.indexOf(node) % 8) + 1);
    const moving = map.partitions.filter((one) => one.to !== null && one.to !== one.node);
    const orphans = map.partitions.filter((one) => one.node === null).length;
    say(summary, `${counted(map.partitions.length, "partition")} of ${counted(names.length, "node")}, map version ${map.epoch}. ${moving.length ? `${counted(moving.length, "partition moves", "partitions move")} now.` : "Nothing moves."}${orphans ? ` ${counted(orphans, "partition has", "partitions have")} no owner.` : ""}`);
    picture.show(map.partitions, metric, colour);
    owners.show(sums(map.partitions, colour));
    showMoves(moves, moving, names.length > 0);
  };
  keepAsking(context, picture.element, 5, () => api.get("/partitions", { signal }), (answer) => {
    // Where nothing is queued any more, what was brought says more.
    if (!map && answer.partitions.every(({ queued }) => queued === 0) && answer.partitions.some(({ pages }) => pages > 0)) {
      metric = "pages";
      choose.value = metric;
    }
    map = answer;
    draw();
  });
}

/**
 * @param {PartitionView[]} partitions
 * @param {(node: string | null) => number} colour
 */
function sums(partitions, colour) {
  /** @type {Map<string | null, Owner>} */
  const owners = new Map();
  for (const one of partitions) {
    const owner = owners.get(one.node) ?? { node: one.node, colour: colour(one.node), partitions: 0, share: "", hosts: 0, queued: 0, pages: 0 };
    owner.partitions += 1;
    owner.share = percent(owner.partitions, partitions.length);
    for (const [name] of METRICS) owner[name] += one[name];
    owners.set(one.node, owner);
  }
  return [...owners.values()].toSorted((a, b) => String(a.node).localeCompare(String(b.node)));
}

/**
 * @param {HTMLElement} place
 * @param {PartitionView[]} moving
 * @param {boolean} owned whether anybody owns one
 */
function showMoves(place, moving, owned) {
  const shown = moving.slice(0, 100);
  fill(
    place,
    shown.length
      ? h("ul", { class: "plain moves" }, shown.map((one) => h("li", {}, `${one.partition}: `, one.node === null ? "nobody" : web(one.node), " → ", web(one.to ?? "nobody"), h("span", { class: "hint" }, ` ${counted(one.queued, "URL")} queued`))))
      : h("p", { class: "hint" }, owned ? "Every partition stays where it is. They move when a node joins, leaves or is lost." : "No partition has an owner: they are given out when nodes have joined."),
    moving.length > shown.length && h("p", { class: "hint" }, `and ${count(moving.length - shown.length)} more`),
  );
}

/**
 * The map: a cell for a partition, or for a run of them where there are very many. A list to choose from,
 * as readers know it: the arrow keys go through it, and what is chosen is read out.
 */
class Picture {
  #svg = s("svg", { class: "map", tabindex: "0", role: "listbox" });
  #readout = h("p", { class: "readout" });
  /** What is said while none is chosen. */
  #about = "";
  element = h("div", {}, this.#svg, this.#readout);
  /** @type {Cell[]} */
  #cells = [];
  /** @type {number | null} */
  #chosen = null;
  #across = 1;

  constructor() {
    /** @param {MouseEvent} event */
    const point = ({ target }) => target instanceof SVGElement && this.#choose(Number(target.dataset.cell ?? NaN));
    this.#svg.addEventListener("pointermove", point);
    this.#svg.addEventListener("click", point);
    this.#svg.addEventListener("keydown", (event) => {
      const step = new Map([
        ["ArrowRight", 1], ["ArrowLeft", -1], ["ArrowDown", this.#across], ["ArrowUp", -this.#across], ["Home", -Infinity], ["End", Infinity],
      ]).get(event.key);
      if (step === undefined || !this.#cells.length) return;
      event.preventDefault();
      const from = this.#chosen ?? (step > 0 ? -1 : 1);
      const next = Math.max(0, Math.min(this.#cells.length - 1, from + step));
      this.#choose(next);
    });
  }

  /**
   * @param {PartitionView[]} partitions
   * @param {Metric} metric
   * @param {(node: string | null) => number} colour
   */
  show(partitions, metric, colour) {
    const run = Math.ceil(partitions.length / MOST_CELLS);
    this.#cells = [];
    for (let at = 0; at < partitions.length; at += run) this.#cells.push(merge(partitions.slice(at, at + run)));
    const most = Math.max(1, ...this.#cells.map((cell) => cell[metric]));
    // Wide on wide screens; never so many across that a cell cannot be touched.
    const room = this.element.clientWidth || 640;
    this.#across = Math.max(8, Math.min(this.#cells.length, Math.floor(room / (this.#cells.length > 1024 ? 12 : 22))));
    const down = Math.ceil(this.#cells.length / this.#across);
    this.#svg.setAttribute("viewBox", `-0.5 -0.5 ${this.#across * 10 + 1} ${down * 10 + 1}`);
    this.#svg.setAttribute("aria-label", `Map of ${counted(partitions.length, "partition")}`);
    fill(
      this.#svg,
      this.#cells.map((cell, index) => {
        const shade = 0.25 + 0.75 * Math.sqrt(cell[metric] / most);
        const moving = cell.to !== null && cell.to !== cell.node;
        return s("rect", {
          id: `cell-${index}`,
          role: "option",
          "aria-label": `${cellName(cell)}: ${cellOwner(cell)}, ${cellSizes(cell).join(", ")}`,
          "aria-selected": String(index === this.#chosen),
          class: `cell area c${colour(cell.node)}${moving ? " moving" : ""}${index === this.#chosen ? " chosen" : ""}`,
          x: (index % this.#across) * 10 + 0.6,
          y: Math.floor(index / this.#across) * 10 + 0.6,
          width: 8.8,
          height: 8.8,
          rx: 1.6,
          "fill-opacity": shade.toFixed(2),
          "data-cell": index,
        });
      }),
    );
    const darkest = Math.max(0, ...this.#cells.map((cell) => cell[metric]));
    const [one, many] = UNITS[metric];
    this.#about = `${darkest ? `Darker is more: the darkest has ${counted(darkest, one, many)}. ` : ""}Point at a cell, or use the arrow keys.`;
    this.#say();
  }

  /** @param {number} index */
  #choose(index) {
    if (!Number.isInteger(index) || index === this.#chosen) return;
    this.#mark(false);
    this.#chosen = index;
    this.#mark(true);
    this.#svg.setAttribute("aria-activedescendant", `cell-${index}`);
    this.#say();
  }

  /** @param {boolean} chosen */
  #mark(chosen) {
    const cell = this.#chosen === null ? null : this.#svg.children[this.#chosen];
    cell?.classList.toggle("chosen", chosen);
    cell?.setAttribute("aria-selected", String(chosen));
  }

  #say() {
    const cell = this.#chosen === null ? null : this.#cells[this.#chosen];
    if (!cell) say(this.#readout, this.#about);
    else fill(this.#readout, h("b", {}, cellName(cell)), ": ", web(cellOwner(cell)), ` · ${cellSizes(cell).join(" · ")}`);
  }
}

/** @param {Cell} cell */
function cellName({ first, last }) {
  return first === last ? `Partition ${first}` : `Partitions ${first} to ${last}`;
}

/** @param {Cell} cell */
function cellOwner({ node, to }) {
  return `${node ?? "nobody"}${to !== null && to !== node ? `, moving to ${to}` : ""}`;
}

/** @param {Cell} cell */
function cellSizes(cell) {
  return [counted(cell.hosts, "host"), `${counted(cell.queued, "URL")} queued`, counted(cell.pages, "page")];
}

/**
 * @param {PartitionView[]} run
 * @returns {Cell}
 */
function merge(run) {
  /** @param {Metric} name */
  const sum = (name) => run.reduce((all, one) => all + one[name], 0);
  return {
    first: run[0]?.partition ?? 0,
    last: run.at(-1)?.partition ?? 0,
    node: run[0]?.node ?? null,
    to: run.find((one) => one.to !== null)?.to ?? null,
    hosts: sum("hosts"),
    queued: sum("queued"),
    pages: sum("pages"),
  };
}
