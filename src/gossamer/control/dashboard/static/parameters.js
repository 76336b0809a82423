// Parameters that change nothing: what was found about them, and keeping one.

import { button, h, link, web } from "./dom.js";
import { parameterName, parameterState } from "./evidence.js";
import { counted } from "./format.js";
import { confirmed, doing, tell } from "./notices.js";
import { Table } from "./table.js";

/**
 * @import { LearntParameter } from "api"
 * @import { Column } from "./table.js"
 * @import { Context } from "./shell.js"
 */

/**
 * A card with what was found about parameters, of one host or of all; not there while there is nothing.
 * @param {Context} context
 * @param {string | null} host
 * @param {() => unknown} after
 */
export function parametersCard({ api, operates }, host, after) {
  /** @param {LearntParameter} row */
  const ask = async (row) => {
    const text = `The parameter ${row.parameter} stays in the URLs of ${row.host}, whatever its values bring, and URLs that ended for it are visited.`;
    if (!(await confirmed("Keep the parameter?", h("p", {}, web(text)), "Keep", { danger: false }))) return;
    const taken = await api.post("/patterns/take_up", { body: { host: row.host, pattern: `?${row.parameter}` } });
    tell(`The parameter stays; ${counted(taken.urls, "URL")} of ${taken.host} are queued again.`);
    after();
  };
  /** @param {LearntParameter} row */
  const keep = (row) => {
    if (row.state !== "learnt") return "–";
    /** @type {HTMLButtonElement} */
    const go = button("Keep…", () => doing(go, () => ask(row)), { "aria-label": `Keep ${parameterName(row)}` });
    return go;
  };
  /** @type {Column<LearntParameter>[]} */
  const columns = [
    { label: "Parameter", of: parameterName, draw: (row) => web(parameterName(row), "mono") },
    { label: "Found", of: (row) => parameterState(row.state) },
    { label: "Why", of: (row) => row.evidence, draw: (row) => web(row.evidence) },
  ];
  if (host === null) {
    columns.splice(1, 0, { label: "Host", of: (row) => row.host, draw: (row) => link(`#/hosts/${encodeURIComponent(row.host)}`, web(row.host, "cut")) });
  }
  if (operates) columns.push({ label: "Commands", wide: true, of: (row) => [row.parameter, row.state], draw: keep });
  const table = new Table({
    caption: "Parameters that change nothing", className: "cards", columns,
    key: (row) => `${row.host} ${parameterName(row)}`,
  });
  const element = h(
    "section", { class: "card below", hidden: true, "aria-labelledby": "parameters-head" },
    h("h2", { id: "parameters-head" }, "Parameters that change nothing"),
    h("p", { class: "hint" }, "Pages were the same whatever the value, so links lose the parameter, and a few keep it to see whether that still holds."),
    table.element,
  );
  return {
    element,
    /** @param {LearntParameter[]} rows */
    show(rows) {
      element.hidden = !rows.length;
      table.show(rows);
    },
  };
}
