// Overview: how the crawl goes, at a glance.

import { keepAsking } from "../asking.js";
import { COMMANDS, command } from "../commands.js";
import { button, fill, h, link, prose, s, say, web } from "../dom.js";
import { bytes, capital, count, counted, figure, large, percent, relative, short, span, words } from "../format.js";
import { doing } from "../notices.js";
import { GROUPS, tint } from "../outcomes.js";
import { Past } from "../past.js";
import { patternCards } from "../patterns.js";
import { Plot } from "../plot.js";
import { Waits } from "../waits.js";

/**
 * @import { Alert, CommandInfo, Status } from "api"
 * @import { Outcomes } from "../outcomes.js"
 * @import { Counters, Values } from "../past.js"
 * @import { Context } from "../shell.js"
 */

/** @type {[string, string][]} */
const RANGES = [["600", "10 min"], ["3600", "1 h"], ["21600", "6 h"]];
const NAMED = 6;

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
  const commands = h("div", { class: "commands" });
  const range = h("fieldset", { class: "range" }, h("legend", { class: "unseen" }, "Time shown"));
  for (const [seconds, label] of RANGES) {
    const input = h("input", { type: "radio", name: "range", value: seconds, checked: seconds === "600" });
    input.addEventListener("change", () => load(Number(seconds)));
    range.append(h("label", {}, input, h("span", {}, label)));
  }
  root.append(
    h("h1", {}, "Overview"),
    alerts,
    tiles.element,
    h("div", { class: "section-head" }, h("h2", {}, "Over time"), range),
    h("div", { class: "plots" }, Object.values(plots).map((plot) => plot.element)),
    h(
      "div",
      { class: "halves" },
      h("section", { class: "card" }, h("h2", {}, "Outcomes so far"), totals),
      h("section", { class: "card" }, h("h2", {}, "Commands"), commands),
    ),
    h("div", { class: "below" }, waits.element),
    h("div", { class: "below" }, patternCards(context, null)),
  );

  const draw = () => {
    if (document.hidden || !live.status) return;
    tiles.show(live.status, live.now());
    waits.show(live.status, live.now());
    drawPlots(plots, past, live.status, outcomes);
    showTotals(totals, live.status.outcomes, outcomes);
  };
  /** @param {number} seconds */
  async function load(seconds) {
    try {
      await past.load(api, seconds, signal);
      draw();
    } catch {
      // The line says that it is lost; it is loaded when it is back.
    }
  }
  live.on("status", (status) => { past.add(status); draw(); }, signal);
  live.on("again", () => load(past.seconds), signal);
  signal.addEventListener("abort", () => { for (const plot of Object.values(plots)) plot.close(); });
  load(600);
  const look = keepAsking(context, alerts, 5, () => api.get("/alerts", { signal }), (found) => showAlerts(alerts, found, live.now()));
  /** @type {() => unknown} */
  const offered = keepAsking(context, commands, 10, () => api.get("/commands", { signal }), (found) => showCommands(commands, found, context, () => offered()));
  live.on("event", ({ kind }) => {
    if (kind.startsWith("alert")) look();
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
  /**
   * @param {string} label
   * @param {Values} values
   * @param {number} colour
   */
  const one = (label, values, colour) => [{ label, values, colour }];
  plots.pages.show({ times, span: shown, series: one("pages", data.pages, 1), now: `${figure(status.pages_per_second)}/s`, least: 1 });
  plots.bytes.show({ times, span: shown, series: one("received", data.bytes, 2), now: `${bytes(status.bytes_per_second)}/s`, least: 1024 });
  plots.queue.show({ times, span: shown, series: one("queued", data.urls_queued, 5), now: count(status.urls_queued), least: 10 });
  plots.hosts.show({
    times, span: shown, least: 4, now: `${count(status.hosts_known)} known`,
    series: [
      { label: "being visited", values: data.hosts_active, colour: 1 },
      { label: "waiting", values: data.hosts_waiting, colour: 3 },
      { label: "set aside", values: data.hosts_set_aside, colour: 6 },
    ],
  });
  plots.outcomes.show({ times, span: shown, series: outcomeSeries(data.grown), least: 1 });
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
 * @param {Counters} grown
 * @param {(name: string) => boolean} wanted
 */
function total(grown, wanted) {
  let sum = 0;
  for (const [name, rate] of Object.entries(grown)) if (wanted(name)) sum += rate;
  return sum;
}

/**
 * The most frequent outcomes by name, and the others together.
 * @param {(Counters | null)[]} grown
 */
function outcomeSeries(grown) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const rates of grown) {
    for (const [name, rate] of Object.entries(rates ?? {})) sums.set(name, (sums.get(name) ?? 0) + rate);
  }
  const order = [...sums].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
  const named = order.slice(0, NAMED);
  /** @type {Set<number>} */
  const taken = new Set();
  const series = named.map((name) => ({
    label: words(name), colour: tint(name, taken), values: grown.map((rates) => rates && (rates[name] ?? 0)),
  }));
  if (order.length > NAMED) {
    series.push({ label: "others", colour: 9, values: grown.map((rates) => rates && total(rates, (name) => !named.includes(name))) });
  }
  return series;
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
    this.#set("Pages", large(status.pages), `${figure(status.pages_per_second)} per second`);
    this.#set("Received", bytes(status.bytes), `${bytes(status.bytes_per_second)} per second`);
    const aside = status.urls_set_aside ? `, ${large(status.urls_set_aside)} set aside` : "";
    this.#set("Queue", large(status.urls_queued), `of ${large(status.urls_seen)} URLs known${aside}`);
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
  if (status.activity === "paused") return ["Paused", `worked ${span(status.seconds)} so far`];
  if (status.eta_seconds === null) {
    const due = status.next_due !== null && status.next_due > now ? `next visit ${relative(status.next_due, now)}` : "cannot be told yet";
    return ["–", due];
  }
  return [`≈\u2009${span(status.eta_seconds)}`, `judged by ${status.eta_from ?? "the rate"}`];
}

/**
 * @param {HTMLElement} place
 * @param {Alert[]} alerts
 * @param {number} now
 */
function showAlerts(place, alerts, now) {
  const key = JSON.stringify(alerts);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  fill(
    place,
    alerts.map((alert) =>
      h(
        "div",
        { class: `alert alert-${alert.severity}` },
        h("p", {}, h("strong", {}, `${capital(alert.severity)}: `), web(alert.text)),
        h("p", { class: "hint" }, ...prose(capital(alert.hint)), ` · since ${relative(alert.since, now)}`),
        alert.host && h("p", {}, link(`#/hosts/${encodeURIComponent(alert.host)}`, web(alert.host))),
      ),
    ),
  );
}

/**
 * @param {HTMLElement} place
 * @param {Counters} visits
 * @param {Outcomes} outcomes
 */
function showTotals(place, visits, outcomes) {
  const rows = Object.entries(visits).filter(([, number]) => number > 0).toSorted((a, b) => b[1] - a[1]);
  const key = JSON.stringify(rows);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  if (!rows.length) {
    fill(place, h("p", { class: "hint" }, "No visit has ended yet."));
    return;
  }
  const all = rows.reduce((sum, [, number]) => sum + number, 0);
  const most = rows[0]?.[1] ?? 1;
  fill(
    place,
    h(
      "table",
      { class: "totals" },
      h("caption", { class: "unseen" }, "Visits by outcome"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Outcome"), h("th", { scope: "col", class: "number" }, "Visits"), h("th", { scope: "col", class: "number" }, "Share"))),
      h(
        "tbody",
        {},
        rows.map(([name, number]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row", title: outcomes.meaning(name) }, words(name), bar(number / most, outcomes.colour(name))),
            h("td", { class: "number" }, count(number)),
            h("td", { class: "number" }, percent(number, all)),
          ),
        ),
      ),
    ),
    h("p", { class: "hint" }, `${counted(all, "visit")} in all.`),
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
function showCommands(place, offered, { api, operates, live }, again) {
  const key = JSON.stringify(offered);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  fill(
    place,
    !operates && h("p", { class: "hint" }, "This token may look and change nothing; sign in with the other one to give commands."),
    h(
      "ul",
      {},
      offered.map(({ command: name, available, reason }) => {
        const { label, meaning } = COMMANDS[name];
        /** @type {HTMLButtonElement} */
        const go = button(label, () => doing(go, async () => { if (await command(api, name)) again(); }), {
          class: name === "stop" ? "danger" : null,
          disabled: !available || !operates,
        });
        return h("li", {}, go, h("span", { class: "hint" }, ...(available ? [meaning] : prose(capital(reason ?? "not available now")))));
      }),
    ),
    h("p", { class: "hint" }, live.status ? `Gossamer ${live.status.version}, ${live.status.mode === "cluster" ? counted(live.status.nodes, "node") : "standalone"}.` : ""),
  );
}
