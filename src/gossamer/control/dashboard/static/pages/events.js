// Events as they happen, and the audit log: who changed what.

import { keepAsking } from "../asking.js";
import { empty, fill, h, link, select, web } from "../dom.js";
import { capital, date, relative, value, words } from "../format.js";

/**
 * @import { AuditEntry, CrawlEvent, EventKind } from "api"
 * @import { Child } from "../dom.js"
 * @import { Context } from "../shell.js"
 */

/** @type {[string, string, (kind: EventKind) => boolean][]} */
const GROUPS = [
  ["", "All", () => true],
  ["crawl", "The crawl", (kind) => ["started", "finished", "paused", "resumed", "stopped", "checkpoint", "rerank"].includes(kind)],
  ["nodes", "Nodes and hand-overs", (kind) => kind.startsWith("node") || kind === "hand_over" || kind === "control"],
  ["changes", "Settings, hosts and seeds", (kind) => ["setting", "host", "seeds"].includes(kind)],
  ["alerts", "Alerts and outages", (kind) => kind.startsWith("alert") || kind.startsWith("outage")],
];
const MOST = 500;
/** @type {Partial<Record<EventKind, string>>} */
const TONES = { outage: "bad", outage_ended: "good", alert: "bad", node_failed: "bad", node_silent: "bad", paused: "warn", stopped: "warn", node_left: "warn", alert_ended: "good", resumed: "good", started: "good", node_joined: "good" };

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { live, api, signal } = context;
  const list = h("ol", { class: "events", reversed: true });
  const nothing = h("div", {});
  const audit = h("div", {});
  const choose = select(GROUPS.map(([key, label]) => [key, label]), "", () => draw());
  root.append(
    h("h1", {}, "Events"),
    h("div", { class: "filters" }, h("label", { class: "inline" }, "Show ", choose)),
    nothing,
    list,
    h("section", { class: "card" }, h("h2", {}, "Audit log"), h("p", { class: "hint" }, "Every change that somebody made, or tried to make, last first."), audit),
  );
  /** @param {CrawlEvent} event */
  const wanted = ({ kind }) => GROUPS.some(([key, , belongs]) => key === choose.value && belongs(kind));
  const draw = () => {
    const shown = live.events.filter(wanted).toReversed();
    fill(list, shown.map((event) => line(event, live.now())));
    fill(nothing, shown.length ? null : empty("Nothing happened yet", "Joins, failures, hand-overs, commands and changes are told here as they happen."));
  };
  draw();
  live.on("events", draw, signal);
  live.on("event", (event) => {
    // Only the new one is drawn: what is read or has the focus stays.
    if (wanted(event)) {
      fill(nothing);
      list.prepend(line(event, live.now()));
      if (list.children.length > MOST) list.lastElementChild?.remove();
    }
    if (event.who !== null) again();
  }, signal);
  const again = keepAsking(context, audit, 0, () => api.get("/audit", { query: { limit: 50 }, signal }), (lines) => fill(audit, auditTable(lines)));
}

/**
 * @param {CrawlEvent} event
 * @param {number} now
 */
function line(event, now) {
  const target = event.data.submission ? link(`#/seeds/${event.data.submission}`, "see what became of them") : null;
  return h(
    "li",
    {},
    h("time", { datetime: new Date(event.time * 1000).toISOString(), title: relative(event.time, now) }, date(event.time)),
    h("span", { class: `pill ${TONES[event.kind] ?? "calm"}` }, words(event.kind)),
    h(
      "span",
      { class: "event-text" },
      web(event.text),
      event.host !== null && h("span", {}, " ", link(`#/hosts/${encodeURIComponent(event.host)}`, "host")),
      event.kind === "outage" && typeof event.data.outcome === "string" && h("span", {}, " ", link(`#/hosts?failure=${encodeURIComponent(event.data.outcome)}&sort=errors`, "all hosts that fail so")),
      target && [" ", target],
      h("span", { class: "sub" }, [event.node && `node ${event.node}`, event.who && `by ${event.who}`].filter(Boolean).join(", ")),
    ),
  );
}

/** @param {AuditEntry[]} lines */
function auditTable(lines) {
  if (!lines.length) return empty("No changes yet", "Commands, settings, seeds and host changes leave a line here.");
  /**
   * @param {string} label
   * @param {(Child | Child[])[]} children
   */
  const cell = (label, ...children) => h("td", { role: "cell", "data-label": label }, ...children);
  return h(
    "div",
    { class: "table-place" },
    h(
      "table",
      { class: "cards lines", role: "table" },
      h("caption", { class: "unseen" }, "Audit log"),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ["When", "Who", "What", "Old", "New", "Done"].map((one) => h("th", { scope: "col", role: "columnheader" }, one)))),
      h(
        "tbody",
        { role: "rowgroup" },
        lines.toReversed().map((entry) =>
          h(
            "tr",
            { role: "row" },
            h("th", { scope: "row", role: "rowheader", "data-label": "When" }, date(entry.time)),
            cell("Who", entry.who),
            cell("What", capital(words(entry.what)), entry.target !== null && [" ", web(entry.target)]),
            cell("Old", entry.old === null ? "–" : web(value(entry.old), "cut")),
            cell("New", entry.new === null ? "–" : web(value(entry.new), "cut")),
            cell("Done", entry.done ? "yes" : h("span", { class: "bad-text" }, "no: ", web(entry.detail ?? "not confirmed"))),
          ),
        ),
      ),
    ),
  );
}
