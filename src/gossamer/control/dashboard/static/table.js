// A table of rows with keys. A redraw touches only the cells whose value changed, so that a press
// of a button, a selection or the focus survives the next reading.

import { fill, h } from "./dom.js";

/**
 * @import { Child } from "./dom.js"
 * @typedef {{ element: HTMLElement, cells: HTMLElement[], values: string[] }} Shown
 */

/**
 * A cell is drawn again when `of(row)`, as JSON, is another; without `draw` it is what is drawn.
 * @template R
 * @typedef {object} Column
 * @property {string} label
 * @property {(row: R) => unknown} of
 * @property {(row: R) => Child | Child[]} [draw]
 * @property {boolean} [number]
 * @property {boolean} [wide]
 */

/** @template R */
export class Table {
  /** @type {Column<R>[]} */
  #columns;
  /** @type {(row: R) => string | number} */
  #key;
  /** @type {Map<string | number, Shown>} */
  #rows = new Map();
  #body = h("tbody", { role: "rowgroup" });

  /** @param {{ caption: string, columns: Column<R>[], key: (row: R) => string | number, className?: string }} given */
  constructor({ caption, columns, key, className = "" }) {
    this.#columns = columns;
    this.#key = key;
    // Roles are spelled out: narrow screens show rows as cards, which would take the roles away.
    const heads = columns.map((column) =>
      h("th", { scope: "col", role: "columnheader", class: column.number ? "number" : null }, column.label),
    );
    this.element = h(
      "div",
      { class: "table-place" },
      h(
        "table",
        { role: "table", class: className },
        h("caption", { class: "unseen" }, caption),
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
        this.#body,
      ),
    );
  }

  /** @param {R[]} rows */
  show(rows) {
    const left = new Map();
    let place = this.#body.firstElementChild;
    for (const row of rows) {
      const key = this.#key(row);
      const shown = this.#rows.get(key) ?? this.#make();
      this.#update(shown, row);
      left.set(key, shown);
      if (place && shown.element === place) place = place.nextElementSibling;
      else this.#body.insertBefore(shown.element, place);
    }
    for (const [key, shown] of this.#rows) if (!left.has(key)) shown.element.remove();
    this.#rows = left;
  }

  /** @returns {Shown} */
  #make() {
    const cells = this.#columns.map((column, index) =>
      h(index === 0 ? "th" : "td", {
        scope: index === 0 ? "row" : null,
        role: index === 0 ? "rowheader" : "cell",
        class: [column.number ? "number" : "", column.wide ? "wide" : ""].join(" ").trim() || null,
        "data-label": column.label,
      }),
    );
    return { element: h("tr", { role: "row" }, cells), cells, values: [] };
  }

  /**
   * @param {Shown} shown
   * @param {R} row
   */
  #update(shown, row) {
    this.#columns.forEach((column, index) => {
      const value = column.of(row);
      const text = JSON.stringify(value) ?? "";
      const cell = shown.cells[index];
      if (!cell || shown.values[index] === text) return;
      shown.values[index] = text;
      fill(cell, column.draw ? column.draw(row) : String(value));
    });
  }
}
