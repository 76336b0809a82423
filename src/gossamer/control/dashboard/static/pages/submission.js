// A submission: what became of each of its seeds until now.

import { keepAsking } from "../asking.js";
import { button, h, link, say, webUrl, web } from "../dom.js";
import { count, counted, relative, words } from "../format.js";
import { Table } from "../table.js";

/**
 * @import { SeedFate } from "api"
 * @import { Outcomes } from "../outcomes.js"
 * @import { Context } from "../shell.js"
 * @import { Column } from "../table.js"
 * @typedef {SeedFate & { key: string }} Row
 */

const LIMIT = 50;
const TONES = { done: "good", refused: "calm", failed: "bad" };

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal, outcomes } = context;
  const number = Number(context.rest);
  let offset = 0;
  /** @type {number | null} */
  let next = null;
  const place = h("div", {});
  const range = h("p", { class: "hint", role: "status" });
  /** @type {Column<Row>[]} */
  const columns = [
    { label: "Seed", of: (fate) => fate.url, draw: ({ url }) => link(`#/url?${new URLSearchParams({ u: url })}`, webUrl(url)) },
    { label: "What became of it", of: (fate) => [fate.taken, fate.reason, fate.queued, fate.outcome, fate.status], draw: (fate) => became(fate, outcomes) },
    { label: "When", of: (fate) => (fate.time === null ? "–" : relative(fate.time, live.now())) },
  ];
  const table = new Table({ caption: "Seeds of the submission", className: "cards", key: (fate) => fate.key, columns });
  const back = button("Previous", () => { offset = Math.max(0, offset - LIMIT); again(); });
  const on = button("Next", () => { offset = next ?? offset; again(); });
  const pager = h("div", { class: "buttons pager", hidden: true }, back, on);
  place.append(table.element);
  root.append(h("p", { class: "crumb" }, link("#/seeds", "Seeds")), h("h1", {}, number === 0 ? "Begun with" : `Submission ${context.rest}`), range, place, pager);
  const again = keepAsking(context, place, 2, () => api.get("/seeds/{number}", { path: { number }, query: { offset, limit: LIMIT }, signal }), (page) => {
    ({ next } = page);
    pager.hidden = offset === 0 && next === null;
    back.disabled = offset === 0;
    on.disabled = next === null;
    const part = pager.hidden ? "" : `${count(offset + 1)}–${count(offset + page.fates.length)} of `;
    say(range, `${part}${counted(page.total, "seed")}`);
    table.show(page.fates.map((fate, at) => ({ ...fate, key: `${offset + at} ${fate.url}` })));
  });
}

/**
 * @param {SeedFate} fate
 * @param {Outcomes} outcomes
 */
export function became(fate, outcomes) {
  if (!fate.taken) return h("span", {}, h("span", { class: "pill bad" }, "refused"), " ", web(fate.reason ?? ""));
  if (fate.outcome !== null) {
    const status = fate.status === null ? "" : ` (${fate.status})`;
    return h("span", {}, h("span", { class: `pill ${TONES[outcomes.group(fate.outcome)]}`, title: outcomes.meaning(fate.outcome) }, words(fate.outcome)), status);
  }
  return h("span", { class: "pill calm" }, fate.queued ? "queued" : "taken, not visited");
}
