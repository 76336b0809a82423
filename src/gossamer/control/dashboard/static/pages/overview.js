// Overview: how the crawl goes, at a glance.

import { keepAsking } from "../asking.js";
import { COMMANDS, command } from "../commands.js";
import { button, empty, fill, h, link, prose, s, say, web } from "../dom.js";
import { bytes, capital, count, counted, ended, figure, large, percent, relative, short, span, words } from "../format.js";
import { besidePages, visitsInWords } from "../counts.js";
import { doing } from "../notices.js";
import { GROUPS, outcomeSeries, total } from "../outcomes.js";
import { Past } from "../past.js";
import { patternCards } from "../patterns.js";
import { Plot } from "../plot.js";
import { ALL, rangeChoice } from "../range.js";
import { showInner } from "../inner.js";
import { Waits } from "../waits.js";

/**
 * @import { Alert, CommandInfo, Status } from "api"
 * @import { Outcomes } from "../outcomes.js"
 * @import { Values } from "../past.js"
 * @import { Context } from "../shell.js"
 * @import { Live } from "../live.js"
 */

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { live, api, signal, outcomes } = context;
  const past = new Past();
  const alerts = h("section", { class: "alerts", "aria-live": "polite", "aria-label": "Alerts" });
  const tiles = new Tiles();
  const waits = new Waits(outcomes);
  const plots = makePlots();
  const totals = h("div", {});
  const sums = h("section", { class: "card" }, h("h2", {}, "Outcomes so far"), totals);
  const commands = h("div", { class: "commands" });
  const { range, between, choose } = rangeChoice(() => live.status.time, () => past.oldest, (seconds, fixed) => load(seconds, fixed));
  const inner = h("div", {});
  const early = h("div", {});
  const overTime = h(
    "div",
    {},
    h("div", { class: "section-head" }, h("h2", {}, "Over time"), range),
    between,
    h("div", { class: "plots" }, Object.values(plots).map((plot) => plot.element)),
  );
  root.append(
    h("h1", {}, "Overview"),
    alerts,
    tiles.element,
    early,
    overTime,
    h(
      "div",
      { class: "halves" },
      sums,
      h("section", { class: "card" }, h("h2", {}, "Commands"), commands),
    ),
    h("div", { class: "below" }, h("section", { class: "card" }, h("h2", {}, "Inside the nodes"), inner)),
    h("div", { class: "below" }, waits.element),
    h("div", { class: "below" }, patternCards(context, null)),
  );

  const draw = () => {
    if (document.hidden) return;
    tiles.show(live.status, live.now());
    waits.show(live.status, live.now());
    // Before the first visit has ended, plots would be blank: what there is to do says more.
    overTime.hidden = live.status.visits === 0;
    sums.hidden = overTime.hidden;
    showEarly(early, live.status, live.now());
    showInner(inner, live.status.inner);
    if (!overTime.hidden) drawPlots(plots, past, live.status, outcomes);
    showTotals(totals, live.status, outcomes);
  };
  /**
   * @param {number} seconds
   * @param {[number, number] | null} fixed
   */
  async function load(seconds, fixed = null) {
    try {
      await past.load(api, seconds, signal, fixed);
      draw();
    } catch {
      // The line says that it is lost; it is loaded when it is back.
    }
  }
  live.on("status", (status) => { past.add(status); draw(); }, signal);
  live.on("again", () => load(past.seconds, past.fixed), signal);
  signal.addEventListener("abort", () => { for (const plot of Object.values(plots)) plot.close(); });
  // Of a crawl that runs the last minutes are shown first, of one that has ended all of it.
  choose(live.status.read_only === null ? 600 : ALL);
  const look = keepAsking(context, alerts, 5, () => api.get("/alerts", { signal }), (found) => showAlerts(alerts, found, live));
  /** @type {() => unknown} */
  const offered = keepAsking(context, commands, 10, () => api.get("/commands", { signal }), (found) => showCommands(commands, found, context, () => offered()));
  live.on("event", ({ kind }) => {
    if (kind.startsWith("alert") || kind.startsWith("outage")) look();
    if (["paused", "resumed", "stopped"].includes(kind)) offered();
  }, signal);
}

function makePlots() {
  /** @param {number} value */
  const perSecond = (value) => `${figure(value)}/s`;
  return {
    pages: new Plot({ title: "Pages", unit: "per second", format: perSecond, axis: short }),
    bytes: new Plot({ title: "Received", unit: "bytes per second", format: (value) => `${bytes(value)}/s`, axis: bytes, base: 1024 }),
    outcomes: new Plot({ title: "Outcomes", unit: "visits per second", kind: "stack", format: perSecond, axis: short }),
    activity: new Plot({ title: "Recent activity", unit: "visits in each bar", kind: "bars", format: count, axis: short }),
    queue: new Plot({ title: "Queue", unit: "URLs", format: count, axis: short }),
    hosts: new Plot({ title: "Hosts at work", unit: "hosts", format: count, axis: short }),
  };
}

/**
 * @param {ReturnType<typeof makePlots>} plots
 * @param {Past} past
 * @param {Status} status
 * @param {Outcomes} outcomes
 */
function drawPlots(plots, past, status, outcomes) {
  const now = status.time;
  const shown = past.span(now);
  const data = past.sample({
    now,
    rates: ["pages", "bytes"],
    gauges: ["urls_queued", "hosts_active", "hosts_waiting", "hosts_set_aside"],
  });
  const { times } = data;
  // A fetch log tells of visits, not of queues: plots without a reading are left out where none is to come.
  for (const [plot, values] of /** @type {[Plot, Values][]} */ ([[plots.queue, data.urls_queued], [plots.hosts, data.hosts_active]])) {
    plot.element.hidden = status.read_only !== null && values.every((value) => value === null);
  }
  /**
   * @param {string} label
   * @param {Values} values
   * @param {number} colour
   */
  const one = (label, values, colour) => [{ label, values, colour }];
  plots.pages.show({ times, span: shown, series: one("pages", data.pages, 1), now: rate(status.pages_per_second, figure), least: 1 });
  plots.bytes.show({ times, span: shown, series: one("received", data.bytes, 2), now: rate(status.bytes_per_second, bytes), least: 1024 });
  plots.queue.show({ times, span: shown, series: one("queued", data.urls_queued, 5), now: count(status.urls_queued), least: 10 });
  plots.hosts.show({
    times, span: shown, least: 4, now: `${count(status.hosts_known)} known`,
    series: [
      { label: "being visited", values: data.hosts_active, colour: 1 },
      { label: "waiting", values: data.hosts_waiting, colour: 3 },
      { label: "set aside", values: data.hosts_set_aside, colour: 6 },
    ],
  });
  plots.outcomes.show({ times, span: shown, series: outcomeSeries(data.grown, outcomes), least: 1 });
  const bars = past.sample({ now, points: 30 });
  plots.activity.show({
    times: bars.times, span: shown, least: 4, now: `a bar is ${span(bars.step)}`,
    series: GROUPS.map(({ key, label, colour }) => ({
      label, colour,
      values: bars.grown.map((grown) => grown && Math.round(bars.step * total(grown, (name) => outcomes.group(name) === key))),
    })),
  });
}

/**
 * What it is now; nothing where nothing runs.
 * @param {number | null} value
 * @param {(value: number) => string} format
 */
function rate(value, format) {
  return value === null ? "" : `${format(value)}/s`;
}

/**
 * The rate of now, or of the whole crawl where none runs.
 * @param {number | null} now
 * @param {number} all
 * @param {number} seconds
 * @param {(value: number) => string} format
 */
function paceOf(now, all, seconds, format) {
  if (now !== null) return `${format(now)} per second`;
  return seconds > 0 ? `${format(all / seconds)} per second on average` : "";
}

class Tiles {
  /** @type {Map<string, [HTMLElement, HTMLElement]>} */
  #parts = new Map();
  element = h("section", { class: "tiles", "aria-label": "Figures" });

  constructor() {
    for (const name of ["Pages", "Received", "Queue", "Hosts", "Time left", "Memory"]) {
      const big = h("p", { class: "big" }, "–");
      const small = h("p", { class: "small" }, "\u00A0");
      this.#parts.set(name, [big, small]);
      this.element.append(h("div", { class: "tile card" }, h("h2", {}, name), big, small));
    }
  }

  /**
   * @param {string} name
   * @param {string} big
   * @param {string} small
   */
  #set(name, big, small) {
    const parts = this.#parts.get(name);
    if (!parts) return;
    say(parts[0], big);
    say(parts[1], small);
  }

  /**
   * @param {Status} status
   * @param {number} now
   */
  show(status, now) {
    this.#set("Pages", large(status.pages), paceOf(status.pages_per_second, status.pages, status.seconds, figure));
    this.#set("Received", bytes(status.bytes), paceOf(status.bytes_per_second, status.bytes, status.seconds, bytes));
    const aside = status.urls_set_aside ? `, ${large(status.urls_set_aside)} set aside` : "";
    this.#set("Queue", large(status.urls_queued), `of ${large(status.urls_seen)} ${status.urls_seen === 1 ? "URL" : "URLs"} known${aside}`);
    const hosts = [`${count(status.hosts_active)} being visited`];
    if (status.hosts_set_aside) hosts.push(`${count(status.hosts_set_aside)} set aside`);
    if (status.hosts_blocked) hosts.push(`${count(status.hosts_blocked)} blocked`);
    if (status.reranking) hosts.push(`${count(status.reranking)} to be re-ranked`);
    this.#set("Hosts", count(status.hosts_known), hosts.join(", "));
    const [left, why] = timeLeft(status, now);
    this.#set("Time left", left, why);
    const room = status.disk_free === null ? "" : `, ${bytes(status.disk_free)} free`;
    this.#set("Memory", bytes(status.rss), `${bytes(status.disk)} on disk${room}`);
  }
}

/**
 * @param {Status} status
 * @param {number} now
 * @returns {[string, string]}
 */
function timeLeft(status, now) {
  if (status.activity === "finished") return ["Done", "nothing is left to crawl"];
  if (status.activity === "limit_reached") return ["Done", status.note || "a limit was reached"];
  if (status.activity === "stopped") return ["Stopped", status.note];
  if (status.activity === "unknown") return ["–", status.note];
  if (status.activity === "paused") return ["Paused", `worked ${span(status.seconds)} so far`];
  if (status.visits === 0) return ["–", "cannot be told before the first visit has ended"];
  if (status.eta_seconds === null) {
    const due = status.next_due !== null && status.next_due > now ? `next visit ${relative(status.next_due, now)}` : "cannot be told yet";
    return ["–", due];
  }
  // A limit of time holds at the latest; all others are the least that it takes.
  const bound = status.eta_from === "limits.time" ? "≤" : "≥";
  return [`${bound}\u2009${span(status.eta_seconds)}`, `judged by ${status.eta_from ?? "the rate"}`];
}

/**
 * @param {HTMLElement} place
 * @param {Alert[]} alerts
 * @param {Live} live
 */
function showAlerts(place, alerts, live) {
  const now = live.now();
  const key = JSON.stringify(alerts);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  fill(
    place,
    bySeverity(alerts).map((alert) =>
      h(
        "div",
        { class: `alert alert-${alert.severity}` },
        h("p", {}, h("strong", {}, `${capital(alert.severity)}: `), web(alert.text)),
        h("p", { class: "hint" }, ...prose(capital(alert.hint)), live.status.read_only === null && ` · since ${relative(alert.since, now)}`),
        alert.host && h("p", {}, link(`#/hosts/${encodeURIComponent(alert.host)}`, web(alert.host))),
        concerned(alert),
      ),
    ),
  );
}

/**
 * The worst first.
 * @param {Alert[]} alerts
 */
function bySeverity(alerts) {
  const order = ["critical", "warning", "notice"];
  return alerts.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}

/**
 * What a crawl without a single visit waits for, and what to do.
 * @param {HTMLElement} place
 * @param {Status} status
 * @param {number} now
 */
function showEarly(place, status, now) {
  const why = status.visits > 0 ? null
    : status.wanted === "pause" ? empty("Paused before the first visit", "Press Resume above to begin.")
    : status.mode === "cluster" && status.nodes === 0 ? empty("No node has joined yet", "Nothing is visited without one. ", link("#/nodes", "See how to start one"), ".")
    : status.urls_queued === 0 ? empty("Nothing to visit", "No URL is queued. ", link("#/seeds", "Submit a seed"), " to begin, or see there why seeds were refused.")
    : empty("No visit has ended yet", `${counted(status.urls_queued, "URL")} of ${counted(status.hosts_known, "host")} queued, ${counted(status.in_flight, "visit")} under way${status.next_due !== null && status.next_due > now ? `, the next visit ${relative(status.next_due, now)}` : ""}. If this stays so, `, link("#/hosts?sort=next_visit", "see what the hosts wait for"), ".");
  const key = why?.textContent ?? "";
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  fill(place, why);
}

/**
 * The way to the hosts that an alert is about.
 * @param {Alert} alert
 */
function concerned({ hosts }) {
  if (!Object.keys(hosts).length) return null;
  const label = hosts.failure ? `Show the hosts that fail so (${hosts.failure})` : "Show these hosts";
  return h("p", {}, link(`#/hosts?${new URLSearchParams(hosts)}`, label));
}

/**
 * @param {HTMLElement} place
 * @param {Status} status
 * @param {Outcomes} outcomes
 */
function showTotals(place, status, outcomes) {
  const rows = Object.entries(status.outcomes).filter(([, number]) => number > 0).toSorted((a, b) => b[1] - a[1]);
  const key = JSON.stringify([rows, status.robots_files, status.sitemaps, status.probes, status.unvisited]);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  const all = rows.reduce((sum, [, number]) => sum + number, 0);
  const most = rows[0]?.[1] ?? 1;
  fill(
    place,
    h(
      "table",
      { class: "totals" },
      h("caption", { class: "unseen" }, "Lines of the fetch log by outcome"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Outcome"), h("th", { scope: "col", class: "number" }, "Number"), h("th", { scope: "col", class: "number" }, "Share"))),
      h(
        "tbody",
        {},
        rows.map(([name, number]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row", title: outcomes.meaning(name) }, link(`#/log?outcome=${name}`, words(name)), outcomes.group(name) === "failed" && [" · ", link(`#/hosts?failure=${name}&sort=errors`, "hosts")], besidePages(status, name), bar(number / most, outcomes.colour(name))),
            h("td", { class: "number" }, count(number)),
            h("td", { class: "number" }, percent(number, all)),
          ),
        ),
      ),
    ),
    h("p", { class: "hint" }, `${visitsInWords(status)}.`),
  );
}

/**
 * @param {number} share
 * @param {number} colour
 */
function bar(share, colour) {
  return s(
    "svg",
    { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { class: `area c${colour}`, width: Math.max(0.5, share * 100), height: 4, rx: 1 }),
  );
}

/**
 * @param {HTMLElement} place
 * @param {CommandInfo[]} offered
 * @param {Context} context
 * @param {() => void} again
 */
function showCommands(place, offered, { api, operates, looksOnly, live }, again) {
  const key = JSON.stringify(offered);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  fill(
    place,
    !operates && h("p", { class: "hint" }, ...prose(looksOnly)),
    operates && h(
      "ul",
      {},
      // A standalone crawl is one node: what never works is not offered.
      offered.filter(({ command: name }) => name !== "add_node" || live.status.mode === "cluster").map(({ command: name, available, reason }) => {
        const { label, meaning } = COMMANDS[name];
        /** @type {HTMLButtonElement} */
        const go = button(label, () => doing(go, async () => { if (await command(api, name)) again(); }), {
          class: name === "stop" ? "danger" : null,
          disabled: !available,
        });
        return h("li", {}, go, h("span", { class: "hint" }, ...(available ? [meaning] : prose(ended(capital(reason ?? "not available now"))))));
      }),
    ),
    h("p", { class: "hint" }, `Gossamer ${live.status.version}, ${live.status.mode === "cluster" ? counted(live.status.nodes, "node") : "standalone"}.`),
  );
}
