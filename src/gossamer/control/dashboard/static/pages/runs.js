// Runs: each start of the crawl, how it ended and what it brought.

import { keepAsking } from "../asking.js";
import { button, empty, fill, h, link, plain, web } from "../dom.js";
import { capital, count, date, span, words } from "../format.js";
import { Table } from "../table.js";

/**
 * @import { RunPage, RunView } from "api"
 * @import { Context } from "../shell.js"
 * @import { Column } from "../table.js"
 */

const MOST = 500;
/** @type {Record<string, string>} */
const TONES = { running: "good", failed: "bad", killed: "bad", disk_full: "bad" };

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal } = context;
  /** @param {RunView} run */
  const took = (run) => {
    const end = run.state === "running" ? live.now() : run.ended;
    return end === null ? null : Math.max(0, Math.round(end - run.began));
  };
  /** @type {Column<RunView>[]} */
  const columns = [
    { label: "Run", order: (run) => run.number, of: (run) => run.number },
    { label: "Begun", order: (run) => run.began, of: (run) => date(run.began) },
    { label: "Took", number: true, order: took, of: (run) => span(took(run)) },
    { label: "State", order: (run) => run.state, of: (run) => [run.state, run.error], draw: state },
    { label: "Pages", number: true, order: (run) => run.pages, of: (run) => count(run.pages) },
    { label: "Pages in all", number: true, order: (run) => run.pages_in_all, of: (run) => count(run.pages_in_all) },
    { label: "Version", order: (run) => run.version, of: (run) => run.version, draw: (run) => web(run.version, "cut") },
  ];
  const table = new Table({ caption: "Runs of the crawl", className: "cards lines", key: (run) => run.number, columns });
  const place = h("div", {}, table.element);
  const advice = h("p", { class: "hint", hidden: true });
  const nothing = h("div", {});
  let shown = 50;
  const more = button("Show older ones", () => { shown = Math.min(MOST, shown + 50); again(); }, { hidden: true });
  root.append(h("h1", {}, "Runs"), advice, place, nothing, more);
  const again = keepAsking(context, place, 10, () => api.get("/runs", { query: { limit: shown }, signal }), (page) => {
    table.element.hidden = !page.runs.length;
    table.show(page.runs);
    more.hidden = page.next === null || shown >= MOST;
    advise(advice, page);
    fill(nothing, page.runs.length ? null : none(live.status.mode));
  });
}

/** @param {RunView} run */
function state({ state: name, error }) {
  const pill = h("span", { class: `pill ${TONES[name] ?? "calm"}` }, web(capital(words(name))));
  return error ? [pill, " ", h("span", { title: plain(error) }, web(error, "cut"))] : pill;
}

/**
 * How to go on with a crawl that does not run.
 * @param {HTMLElement} place
 * @param {RunPage} page
 */
function advise(place, { runs, go_on: goOn }) {
  place.hidden = goOn === null;
  const killed = runs[0]?.state === "killed" && "The last run was killed: it could not write down its end. ";
  fill(place, killed, "Go on with ", h("code", {}, goOn));
}

/** @param {string} mode */
function none(mode) {
  const where = link("#/events", "Events");
  return mode === "cluster"
    ? empty("No run is written down here", h("code", {}, "gossamer cluster"), " writes down its runs. When control nodes and nodes that were started one by one began to work, the event log tells: ", where, ".")
    : empty("No run is written down", "The crawl was made before runs were written down; the next ", h("code", {}, "--resume"), " is the first. What the event log has of its starts: ", where, ".");
}
