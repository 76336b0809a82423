// URL patterns that bring nothing new and parameters that change nothing: why, what is set aside, and taking it up.

import { keepAsking } from "./asking.js";
import { button, fill, h, link, web } from "./dom.js";
import { count, counted } from "./format.js";
import { confirmed, doing, tell } from "./notices.js";
import { parametersCard } from "./parameters.js";
import { Table } from "./table.js";

/**
 * @import { DoubtedPattern } from "api"
 * @import { Column } from "./table.js"
 * @import { Context } from "./shell.js"
 */

const OF_HOST = 100;
const OF_ALL = 5;

/**
 * Cards with the doubted patterns and the parameters of one host, or with the worst of all hosts; not there while there is none.
 * @param {Context} context
 * @param {string | null} host
 */
export function patternCards(context, host) {
  const { api, signal, operates } = context;
  const more = h("p", { class: "hint" });
  const card = h("section", { class: "card", hidden: true, "aria-labelledby": "patterns-head" });
  /** @param {DoubtedPattern} row */
  const ask = async (row) => {
    const text = `${counted(row.set_aside, "URL")} like ${row.pattern} will be visited, and URLs like these are never held back again.`;
    if (!(await confirmed("Take them up?", h("p", {}, web(text)), "Take up", { danger: false }))) return;
    const taken = await api.post("/patterns/take_up", { body: { host: row.host, pattern: row.pattern } });
    tell(`${counted(taken.urls, "URL")} of ${taken.host} are queued again.`);
    again();
  };
  /** @param {DoubtedPattern} row */
  const takeUp = (row) => {
    if (row.taken_up) return "is taken up now";
    /** @type {HTMLButtonElement} */
    const go = button("Take up…", () => doing(go, () => ask(row)), { "aria-label": `Take up ${row.pattern}` });
    return go;
  };
  /** @type {Column<DoubtedPattern>[]} */
  const columns = [
    { label: "URLs like", of: (row) => row.pattern, draw: (row) => web(row.pattern, "mono") },
    { label: "Set aside", number: true, of: (row) => count(row.set_aside) },
    { label: "Why", of: (row) => row.reason ?? row.evidence ?? "taken up", draw: (row) => web(row.reason ?? row.evidence ?? "taken up") },
  ];
  if (host === null) {
    columns.splice(1, 0, { label: "Host", of: (row) => row.host, draw: (row) => link(`#/hosts/${encodeURIComponent(row.host)}`, web(row.host, "cut")) });
  }
  if (operates) columns.push({ label: "Commands", wide: true, of: (row) => [row.pattern, row.taken_up], draw: takeUp });
  const table = new Table({
    caption: "URLs that bring nothing new", className: "cards", columns,
    key: (row) => `${row.host} ${row.pattern}`,
  });
  card.append(
    h("h2", { id: "patterns-head" }, "URLs that bring nothing new"),
    h("p", { class: "hint" }, "Visits to URLs like these brought copies, errors or no page. They come last; after some of them the rest is set aside, until they bring something again or you take them up."),
    table.element,
    more,
  );
  const parameters = parametersCard(context, host, () => again());
  const again = keepAsking(
    context, card, 5,
    () => api.get("/patterns", { query: { host, limit: host === null ? OF_ALL : OF_HOST }, signal }),
    (page) => {
      parameters.show(page.parameters);
      card.hidden = !page.patterns.length;
      table.show(page.patterns);
      const left = page.total - page.patterns.length;
      fill(more, left > 0 ? `${count(left)} more; a host's page shows all of its own.` : "");
    },
  );
  return h("div", {}, card, parameters.element);
}
