// A table of rows with keys. A redraw touches only the cells whose value changed, so that a press
// of a button, a selection or the focus survives the next reading.

import { button, fill, h } from "./dom.js";

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
 * @property {string} [sort] who asked for the rows sorts them by this; see `onsort`
 * @property {(row: R) => number | string | null} [order] the table sorts the rows that it has by this
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
  /** @type {HTMLElement[]} */
  #heads;
  /** @type {R[]} */
  #given = [];
  /** @type {{ column: Column<R>, down: boolean } | null} the order of the table's own */
  #order = null;
  /** @type {((sort: string) => unknown) | undefined} */
  #onsort;

  /**
   * `onsort`: called with a column's `sort` when its head is pressed.
   * @param {{ caption: string, columns: Column<R>[], key: (row: R) => string | number, className?: string, onsort?: (sort: string) => unknown }} given
   */
  constructor({ caption, columns, key, className = "", onsort }) {
    this.#columns = columns;
    this.#key = key;
    this.#onsort = onsort;
    // Roles are spelled out: narrow screens show rows as cards, which would take the roles away.
    const heads = columns.map((column) =>
      h("th", { scope: "col", role: "columnheader", class: column.number ? "number" : null }, this.#head(column)),
    );
    this.#heads = heads;
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

  /** @param {Column<R>} column */
  #head(column) {
    if (!column.order && !(column.sort && this.#onsort)) return column.label;
    return button(column.label, () => this.#sortBy(column), { class: "sort" });
  }

  /** @param {Column<R>} column */
  #sortBy(column) {
    if (column.sort && this.#onsort) {
      this.#onsort(column.sort);
      return;
    }
    // Figures are looked at from the largest down, names from the first on.
    this.#order = { column, down: this.#order?.column === column ? !this.#order.down : column.number === true };
    this.#mark(column, this.#order.down);
    this.show(this.#given);
  }

  /**
   * @param {Column<R> | undefined} sorted
   * @param {boolean} down
   */
  #mark(sorted, down) {
    this.#columns.forEach((column, at) => {
      if (column === sorted) this.#heads[at]?.setAttribute("aria-sort", down ? "descending" : "ascending");
      else this.#heads[at]?.removeAttribute("aria-sort");
    });
  }

  /**
   * Marks the column that the rows come sorted by; a minus first: the other way round.
   * @param {string} sort
   */
  sorted(sort) {
    const reversed = sort.startsWith("-");
    const column = this.#columns.find((one) => one.sort === sort.replace("-", ""));
    this.#mark(column, (column?.number === true) !== reversed);
  }

  /** @param {R[]} rows */
  #ordered(rows) {
    const of = this.#order?.column.order;
    if (!of) return rows;
    const sign = this.#order?.down ? -1 : 1;
    return rows.toSorted((a, b) => sign * compare(of(a), of(b)));
  }

  /** @param {R[]} given */
  show(given) {
    this.#given = given;
    const rows = this.#ordered(given);
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

/**
 * What is absent comes first.
 * @param {number | string | null} a
 * @param {number | string | null} b
 */
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
}
