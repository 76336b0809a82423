// A submission: what became of each of its seeds until now.

import { part } from "../api.js";
import { keepAsking } from "../asking.js";
import { button, h, link, say, webUrl, web } from "../dom.js";
import { count, counted, relative, words } from "../format.js";
import { MEANINGS, group } from "../outcomes.js";
import { Table } from "../table.js";

const LIMIT = 50;
const TONES = { done: "good", refused: "calm", failed: "bad" };

export function show(root, context) {
  const { api, live, signal, rest: number } = context;
  let offset = 0;
  let next = null;
  const place = h("div", {});
  const range = h("p", { class: "hint", role: "status" });
  const table = new Table({
    caption: "Seeds of the submission",
    className: "cards",
    key: (fate) => fate.key,
    columns: [
      { label: "Seed", of: (fate) => fate.url, draw: (url) => link(`#/url?${new URLSearchParams({ u: url })}`, webUrl(url)) },
      { label: "What became of it", of: (fate) => [fate.taken, fate.reason, fate.queued, fate.outcome, fate.status], draw: (_, fate) => became(fate) },
      { label: "When", of: (fate) => (fate.time === null ? "–" : relative(fate.time, live.now())) },
    ],
  });
  const back = button("Previous", () => { offset = Math.max(0, offset - LIMIT); again(); });
  const on = button("Next", () => { offset = next; again(); });
  place.append(table.element);
  root.append(h("p", { class: "crumb" }, link("#/seeds", "Seeds")), h("h1", {}, `Submission ${number}`), range, place, h("div", { class: "buttons pager" }, back, on));
  const again = keepAsking(context, place, 2, () => api.get(`/seeds/${part(number)}`, { offset, limit: LIMIT }, signal), (page) => {
    next = page.next;
    back.disabled = offset === 0;
    on.disabled = next === null;
    say(range, `${count(offset + 1)}–${count(offset + page.fates.length)} of ${counted(page.total, "seed")}`);
    table.show(page.fates.map((fate, at) => ({ ...fate, key: `${offset + at} ${fate.url}` })));
  });
}

function became(fate) {
  if (!fate.taken) return [h("span", { class: "pill bad" }, "refused"), " ", web(fate.reason ?? "")];
  if (fate.outcome !== null) {
    const status = fate.status === null ? "" : ` (${fate.status})`;
    return [h("span", { class: `pill ${TONES[group(fate.outcome)]}`, title: MEANINGS[fate.outcome] ?? null }, words(fate.outcome)), status];
  }
  return h("span", { class: "pill calm" }, fate.queued ? "queued" : "taken, not visited");
}
