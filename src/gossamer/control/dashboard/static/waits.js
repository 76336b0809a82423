// Why hosts wait: after a failure, or because they asked for it.

import { h, link, web } from "./dom.js";
import { count, relative, words } from "./format.js";
import { Table } from "./table.js";

/**
 * @import { Status, WaitView } from "api"
 * @import { Outcomes } from "./outcomes.js"
 * @typedef {WaitView & { reason: string, next: string }} Row
 */

/** A card with a row for each reason; not there while no host waits so. */
export class Waits {
  #table;
  element = h("section", { class: "card", hidden: true, "aria-labelledby": "waits-head" });

  /** @param {Outcomes} outcomes */
  constructor(outcomes) {
    /** @type {Table<Row>} */
    this.#table = new Table({
      caption: "Hosts that wait, by reason", className: "cards",
      key: (row) => row.reason,
      columns: [
        { label: "After", of: (row) => row.reason, draw: (row) => h("span", { title: outcomes.meaning(row.reason) }, words(row.reason)) },
        { label: "Hosts", number: true, of: (row) => count(row.hosts) },
        { label: "Next try", of: (row) => row.next },
        { label: "Of", of: (row) => row.host, draw: (row) => link(`#/hosts/${encodeURIComponent(row.host)}`, web(row.host, "cut")) },
      ],
    });
    this.element.append(
      h("h2", { id: "waits-head" }, "Hosts that wait"),
      h("p", { class: "hint" }, "After a failure, or because they asked for time. They are tried again by themselves, and end when they stay away."),
      this.#table.element,
    );
  }

  /**
   * @param {Status} status
   * @param {number} now
   */
  show(status, now) {
    const rows = Object.entries(status.waits ?? {}).map(([reason, wait]) => ({
      ...wait, reason, next: relative(Math.max(wait.due, now), now),
    }));
    this.element.hidden = !rows.length;
    this.#table.show(rows.toSorted((a, b) => b.hosts - a.hosts));
  }
}
