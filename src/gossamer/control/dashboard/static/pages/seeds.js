// Seeds: submit one or many to the running crawl; see what became of each.

import { keepAsking } from "../asking.js";
import { button, empty, field, fill, h, link, web, webUrl } from "../dom.js";
import { count, counted, date } from "../format.js";
import { complain, doing, tell } from "../notices.js";
import { Table } from "../table.js";
import { urlPage } from "../visits.js";
import { became } from "./submission.js";

/**
 * @import { SeedSubmission, SubmissionFates } from "api"
 * @import { Outcomes } from "../outcomes.js"
 * @import { Api } from "../api.js"
 * @import { Context } from "../shell.js"
 * @import { Column } from "../table.js"
 */

const FIRST = 10;
const MOST = 10_000;
const MOST_BYTES = 1_500_000;

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, signal, operates, looksOnly, outcomes } = context;
  const begun = h("section", { class: "card" });
  const text = h("textarea", { rows: 6, spellcheck: "false", autocapitalize: "none", required: true, placeholder: "https://example.org/\nhttps://example.net/start" });
  const file = h("input", { type: "file", accept: ".txt,text/plain" });
  const result = h("div", { "aria-live": "polite" });
  const go = h("button", { class: "main" }, "Submit");
  file.addEventListener("change", async () => {
    const chosen = file.files?.[0];
    if (!chosen) return;
    const added = await chosen.text();
    text.value = `${text.value.trim()}\n${added}`.trim();
    file.value = "";
  });
  const form = h(
    "form",
    {
      class: "card",
      onsubmit: (event) => {
        event.preventDefault();
        doing(go, async () => {
          const given = text.value;
          const submission = await submit(api, given);
          if (!submission) return;
          // What was typed meanwhile stays.
          if (text.value === given) text.value = submission.left;
          fill(result, summary(submission.made));
          again();
        });
      },
    },
    h("h2", {}, "Submit seeds"),
    field("URLs, one on each line", text, `Up to ${count(MOST)} at a time. Lines that begin with # are left out. Each seed is taken, or refused with a reason.`),
    field("or from a text file", file),
    h("div", { class: "buttons" }, go),
    result,
  );
  const place = h("div", {});
  const nothing = h("div", {});
  /** @type {Column<SeedSubmission>[]} */
  const columns = [
    { label: "Submission", of: (one) => one.id, draw: ({ id }) => link(`#/seeds/${id}`, `Number ${id}`) },
    { label: "When", of: (one) => date(one.time) },
    { label: "Who", of: (one) => one.who },
    { label: "Taken", number: true, of: (one) => count(one.taken) },
    { label: "Refused", number: true, of: (one) => count(one.refused) },
    { label: "First", wide: true, of: (one) => one.seeds[0]?.url ?? "", draw: (one) => web(one.seeds[0]?.url ?? "", "cut url") },
  ];
  const table = new Table({ caption: "Submissions", className: "cards", key: (one) => one.id, columns });
  place.append(table.element);
  root.append(
    h("h1", {}, "Seeds"),
    operates ? form : h("p", { class: "hint" }, looksOnly),
    begun,
    h("h2", {}, "Submissions to this crawl"),
    place,
    nothing,
  );
  keepAsking(context, begun, 10, () => api.get("/seeds/{number}", { path: { number: 0 }, query: { limit: FIRST }, signal }), (page) => showFirst(begun, page, outcomes));
  let shown = 20;
  const more = button("Show older ones", () => { shown = Math.min(500, shown + 50); again(); }, { hidden: true });
  root.append(more);
  const again = keepAsking(context, place, 5, () => api.get("/seeds", { query: { limit: shown }, signal }), (page) => {
    table.element.hidden = !page.submissions.length;
    table.show(page.submissions);
    more.hidden = page.next === null || shown >= 500;
    fill(nothing, page.submissions.length ? null : empty("None", operates ? "What you submit above is listed here, with what became of each." : "What is submitted to a running crawl is listed here, with what became of each."));
  });
}

/**
 * The seeds that the crawl was begun with.
 * @param {HTMLElement} place
 * @param {SubmissionFates} page
 * @param {Outcomes} outcomes
 */
function showFirst(place, page, outcomes) {
  const head = h("h2", {}, "Begun with");
  if (!page.total) {
    fill(place, head, h("p", { class: "hint" }, "The seeds that this crawl was begun with were not noted."));
    return;
  }
  fill(
    place,
    head,
    h("ul", { class: "plain" }, page.fates.map((fate) => h("li", {}, became(fate, outcomes), " ", link(urlPage(fate.url), web(fate.url, "url cut"))))),
    page.next !== null && h("p", {}, link("#/seeds/0", `All ${count(page.total)}`)),
  );
}

/**
 * Submits as much as one request may hold; `left` is what did not fit.
 * @param {Api} api
 * @param {string} text
 */
async function submit(api, text) {
  const urls = text.split(/\r?\n/u).map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
  if (!urls.length) {
    complain(new Error("There is no URL in what was entered."));
    return null;
  }
  let number = 0;
  let size = 0;
  const encoder = new TextEncoder();
  for (const url of urls) {
    size += encoder.encode(url).length + 4;
    if (number >= MOST || size > MOST_BYTES) break;
    number += 1;
  }
  const made = await api.post("/seeds", { body: { urls: urls.slice(0, number) } });
  const left = urls.slice(number);
  tell(`${counted(made.taken, "seed")} taken, ${count(made.refused)} refused.`);
  if (left.length) complain(new Error(`${count(left.length)} more did not fit into one submission; they are still in the field. Submit again.`));
  return { made, left: left.join("\n") };
}

/** @param {SeedSubmission} submission */
function summary(submission) {
  const refused = submission.seeds.filter((seed) => !seed.taken);
  return [
    h("p", {}, `${counted(submission.taken, "seed")} taken, ${count(submission.refused)} refused. `, link(`#/seeds/${submission.id}`, "See what becomes of them")),
    refused.length > 0 && h("ul", { class: "plain" }, refused.slice(0, 20).map((seed) => h("li", {}, webUrl(seed.url), ": ", web(seed.reason ?? "refused")))),
  ];
}
