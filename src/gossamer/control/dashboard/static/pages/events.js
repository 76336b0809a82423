// Events as they happen, and the audit log: who changed what.

import { keepAsking } from "../asking.js";
import { empty, fill, h, link, select, web } from "../dom.js";
import { capital, date, relative, value, words } from "../format.js";

/**
 * @import { AuditEntry, CrawlEvent, EventKind } from "api"
 * @import { Child } from "../dom.js"
 * @import { Context } from "../shell.js"
 */

/**
 * What is shown, by kind. Decisions on hosts and their URLs come by the hundred: they have a place of their own,
 * so that what is rare is not pushed out by them.
 * @type {[string, string, EventKind[]][]}
 */
const GROUPS = [
  ["crawl", "The crawl", ["started", "finished", "paused", "resumed", "stopped", "checkpoint", "rerank"]],
  ["nodes", "Nodes and hand-overs", ["node_joined", "node_left", "node_silent", "node_failed", "hand_over", "control"]],
  ["changes", "Settings, hosts and seeds", ["setting", "host", "seeds"]],
  ["alerts", "Alerts and outages", ["alert", "alert_ended", "outage", "outage_ended"]],
  ["decided", "Decisions on hosts and URLs", ["host_decided"]],
];
const USUAL = GROUPS.filter(([key]) => key !== "decided").flatMap(([, , kinds]) => kinds);
/** @type {[string, string][]} */
const CHOICES = [["", "All but decisions on hosts"], ...GROUPS.map(/** @returns {[string, string]} */ ([key, label]) => [key, label]), ["all", "All"]];
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
  const choose = select(CHOICES, "", () => again());
  root.append(
    h("h1", {}, "Events"),
    h("div", { class: "filters" }, h("label", { class: "inline" }, "Show ", choose)),
    nothing,
    list,
    h("section", { class: "card" }, h("h2", {}, "Audit log"), h("p", { class: "hint" }, "Every change that somebody made, or tried to make, last first."), audit),
  );
  /** @returns {EventKind[] | null} all, where it is null */
  const kinds = () => (choose.value === "all" ? null : GROUPS.find(([key]) => key === choose.value)?.[2] ?? USUAL);
  let newest = 0;
  const standalone = () => live.status.mode === "standalone";
  const again = keepAsking(context, nothing, 0, () => api.get("/events", { query: { kind: kinds() ?? [], limit: MOST }, signal }), ({ events }) => {
    newest = events.at(-1)?.id ?? 0;
    fill(list, events.toReversed().map((event) => line(event, live.now(), standalone())));
    fill(nothing, events.length ? null : empty("Nothing of this kind happened yet", "Joins, failures, outages, hand-overs, commands and changes are told here as they happen."));
  });
  live.on("events", again, signal);
  live.on("event", (event) => {
    // Only the new one is drawn: what is read or has the focus stays.
    if (event.id > newest && (kinds()?.includes(event.kind) ?? true)) {
      newest = event.id;
      fill(nothing);
      list.prepend(line(event, live.now(), standalone()));
      if (list.children.length > MOST) list.lastElementChild?.remove();
    }
    if (event.who !== null) audited();
  }, signal);
  const audited = keepAsking(context, audit, 0, () => api.get("/audit", { query: { limit: 50 }, signal }), (lines) => fill(audit, auditTable(lines)));
}

/**
 * @param {CrawlEvent} event
 * @param {number} now
 * @param {boolean} standalone then the node is always the same
 */
function line(event, now, standalone) {
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
      event.kind === "alert" && alertHosts(event),
      target && [" ", target],
      h("span", { class: "sub" }, [!standalone && event.node && !event.text.includes(event.node) && `node ${event.node}`, event.who && `by ${event.who}`].filter(Boolean).join(", ")),
    ),
  );
}

/**
 * The way to the hosts that an alert was about.
 * @param {CrawlEvent} event
 */
function alertHosts({ data: { hosts } }) {
  if (!(hosts instanceof Object) || Array.isArray(hosts) || !Object.keys(hosts).length) return null;
  return h("span", {}, " ", link(`#/hosts?${new URLSearchParams(Object.entries(hosts).map(([name, text]) => [name, String(text)]))}`, "the hosts"));
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
            cell("Old", entry.old === null ? "–" : h("span", {}, web(value(entry.old), "cut"))),
            cell("New", entry.new === null ? "–" : h("span", {}, web(value(entry.new), "cut"))),
            cell("Done", entry.done ? "yes" : h("span", { class: "bad-text" }, "no: ", web(entry.detail ?? "not confirmed"))),
          ),
        ),
      ),
    ),
  );
}
