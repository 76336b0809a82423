// The fetch log: every visit, newest first, with filters.

import { button, empty, field, h, link, select } from "../dom.js";
import { Visits } from "../visits.js";

/**
 * @import { Context } from "../shell.js"
 * @import { Wanted } from "../visits.js"
 */

/** @type {[string, string][]} */
const TIMES = [["", "Any time"], ["600", "Last 10 minutes"], ["3600", "Last hour"], ["86400", "Last day"], ["range", "From … to …"]];

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { query, outcomes, live } = context;
  const outcome = select([["", "All"], ...outcomes.all(query.get("outcome") ?? "")], query.get("outcome") ?? "");
  const text = h("input", { type: "search", maxlength: 300, value: query.get("text") ?? "", autocapitalize: "none", spellcheck: "false" });
  const host = h("input", { type: "text", maxlength: 300, value: query.get("host") ?? "", autocapitalize: "none", spellcheck: "false" });
  const status = h("input", { type: "number", min: 100, max: 999, value: query.get("status") ?? "" });
  const from = h("input", { type: "datetime-local", step: 1, value: query.get("from") ?? "" });
  const to = h("input", { type: "datetime-local", step: 1, value: query.get("to") ?? "" });
  const ranged = query.get("from") || query.get("to") ? "range" : (query.get("time") ?? "");
  const time = select(TIMES, ranged);
  const between = h("div", { class: "filters" }, field("From", from), field("To", to));
  /** @type {Wanted} */
  let wanted = {};
  const visits = new Visits(context, {}, {
    caption: "Visits",
    none: () => (Object.keys(wanted).length
      ? empty("No such visit", "Nothing in the fetch log matches. Clear a filter to see more.")
      : empty("No visit has ended yet", "Every visit is listed here when it has ended. ", link("#/hosts?sort=next_visit", "See what the hosts wait for"), ".")),
  });
  root.append(
    h("h1", {}, "Fetch log"),
    h(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); begin(); } },
      field("Part of the URL", text),
      field("Host", host, "Its whole name, with its port if it has one"),
      field("Outcome", outcome),
      field("Status", status),
      field("Time", time),
      between,
    ),
    h("div", { class: "buttons" }, button("Newest", () => begin())),
    visits.element,
  );

  function begin() {
    between.hidden = time.value !== "range";
    const range = time.value === "range";
    const kept = {
      outcome: outcome.value, text: text.value.trim(), host: host.value.trim().toLowerCase(), status: status.value,
      time: range ? "" : time.value, from: range ? from.value : "", to: range ? to.value : "",
    };
    const said = new URLSearchParams(Object.entries(kept).filter(([, value]) => value));
    history.replaceState(null, "", `#/log${said.size ? `?${said}` : ""}`);
    wanted = {};
    if (kept.outcome) wanted.outcome = kept.outcome;
    if (kept.text) wanted.text = kept.text;
    if (kept.host) wanted.host = kept.host;
    if (kept.status && status.validity.valid) wanted.status = Number(kept.status);
    if (kept.time) wanted.since = Math.max(0, live.status.time - Number(kept.time));
    const [since, until] = [seconds(kept.from), seconds(kept.to)];
    if (since !== null) wanted.since = since;
    if (until !== null) wanted.until = until;
    visits.begin(wanted);
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  const soon = () => { clearTimeout(typing); typing = setTimeout(begin, 400); };
  for (const one of [text, host, status]) one.addEventListener("input", soon);
  for (const one of [outcome, time, from, to]) one.addEventListener("change", begin);
  begin();
}

/**
 * A local date and time as seconds; `null`: none.
 * @param {string} text
 */
function seconds(text) {
  const time = Date.parse(text) / 1000;
  return Number.isNaN(time) ? null : time;
}
