// Visits, from the fetch log: a table of them, newest first, and more of them on request.

import { button, empty, fill, h, link, plain, say, web } from "./dom.js";
import { bytes, count, date, relative, span, words } from "./format.js";
import { doing, failure } from "./notices.js";
import { Table } from "./table.js";

/**
 * @import { LoggedVisit, VisitPage } from "api"
 * @import { Context } from "./shell.js"
 * @import { Column } from "./table.js"
 * @typedef {{ outcome?: string, host?: string, url?: string, status?: number, text?: string, since?: number, until?: number }} Wanted
 */

/** @param {string} url */
export const urlPage = (url) => `#/url?${new URLSearchParams({ u: url })}`;

/**
 * A list that grows by "Older": each press is one more look at a bounded part of the log.
 */
export class Visits {
  #context;
  #wanted;
  #limit;
  #table;
  /** @type {LoggedVisit[]} */
  #shown = [];
  /** @type {string | null} */
  #next = null;
  /** How often it was begun anew: answers of before do not count. */
  #round = 0;
  #nothing = h("div", {});
  #reached = h("p", { class: "hint", role: "status" });
  #older;
  /** @type {((visits: LoggedVisit[]) => unknown) | null} */
  #onshow;
  /** @type {() => HTMLElement} */
  #none;

  /**
   * `none`: what is shown where the whole log has no such visit.
   * @param {Context} context
   * @param {Wanted} wanted
   * @param {{ caption: string, limit?: number, host?: boolean, url?: boolean, none?: () => HTMLElement, onshow?: (visits: LoggedVisit[]) => unknown }} looks
   */
  constructor(context, wanted, { caption, limit = 50, host = true, url = true, none, onshow }) {
    this.#context = context;
    this.#wanted = wanted;
    this.#limit = limit;
    this.#onshow = onshow ?? null;
    this.#none = none ?? (() => empty("No such visit", "Nothing in the fetch log matches. Clear a filter to see more."));
    /** @type {HTMLButtonElement} */
    const older = button("Older", () => doing(older, () => this.#look()), { hidden: true });
    this.#older = older;
    this.#table = new Table({ caption, className: "cards lines", key: (visit) => `${visit.time} ${visit.url}`, columns: columns(context, { host, url }) });
    this.element = h("div", {}, this.#table.element, this.#nothing, h("div", { class: "buttons pager" }, older, this.#reached));
    this.#table.element.hidden = true;
  }

  /**
   * Begins anew, with another question if one is given.
   * @param {Wanted} wanted
   */
  async begin(wanted = this.#wanted) {
    this.#wanted = wanted;
    this.#round += 1;
    this.#shown = [];
    this.#next = null;
    fill(this.#nothing, h("p", { class: "hint" }, "Looking…"));
    try {
      await this.#look();
    } catch (error) {
      if (!this.#context.signal.aborted) fill(this.#nothing, failure(error, () => this.begin()));
    }
  }

  async #look() {
    const { api, signal } = this.#context;
    const round = this.#round;
    const page = await api.get("/log", { query: { ...this.#wanted, cursor: this.#next, limit: this.#limit }, signal });
    if (round === this.#round) this.#show(page);
  }

  /** @param {VisitPage} page */
  #show(page) {
    this.#shown.push(...page.visits);
    this.#next = page.next;
    this.#table.element.hidden = !this.#shown.length;
    this.#table.show(this.#shown);
    this.#older.hidden = page.next === null;
    const back = page.reached === null ? "" : ` The log was looked at back to ${date(page.reached)}.`;
    const inAll = this.#shown.length ? `${count(this.#shown.length)} in all.` : "";
    say(this.#reached, page.next === null ? inAll : `${count(this.#shown.length)} so far.${back}`);
    const none = page.next === null
      ? this.#none()
      : empty("None in the recent part of the log", "Older parts were not looked at yet: press “Older” to go on.");
    fill(this.#nothing, this.#shown.length ? null : none);
    this.#onshow?.(this.#shown);
  }
}

/**
 * Beside a column with the host, its name is left out.
 * @param {string} url
 * @param {string} host
 */
function withoutHost(url, host) {
  for (const scheme of ["http://", "https://"]) {
    if (url.startsWith(`${scheme}${host}/`)) return url.slice(scheme.length + host.length);
  }
  return url;
}

/**
 * @param {Context} context
 * @param {{ host: boolean, url: boolean }} looks
 * @returns {Column<LoggedVisit>[]}
 */
function columns({ live, outcomes }, looks) {
  /** @type {Column<LoggedVisit>[]} */
  const all = [
    { label: "Time", of: (visit) => visit.time, draw: ({ time }) => h("time", { title: relative(time, live.now()) }, date(time)) },
    {
      label: "Outcome",
      of: (visit) => [visit.outcome, visit.reason],
      draw: ({ outcome, reason }) => h("span", { class: outcomes.group(outcome) === "failed" ? "bad-text" : null, title: reason ?? outcomes.meaning(outcome) }, words(outcome)),
    },
    { label: "Status", number: true, of: (visit) => visit.status ?? "–" },
    { label: "Bytes", number: true, of: (visit) => bytes(visit.bytes) },
    { label: "Took", number: true, of: (visit) => (visit.ms === null ? "–" : span(visit.ms / 1000)) },
  ];
  if (looks.host) all.push({ label: "Host", of: (visit) => visit.host, draw: ({ host }) => link(`#/hosts/${encodeURIComponent(host)}`, web(host, "cut")) });
  if (looks.url) all.push({ label: "URL", of: (visit) => visit.url, draw: ({ url, host }) => h("span", { title: plain(url) }, link(urlPage(url), web(withoutHost(url, host), "url cut"))) });
  else all.push({ label: "Found on", of: (visit) => visit.found_on, draw: ({ found_on: from }) => (from === null ? "a seed" : link(urlPage(from), web(from, "url cut"))) });
  return all;
}
