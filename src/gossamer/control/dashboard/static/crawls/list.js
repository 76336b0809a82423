// The table of crawls: how each stands, and what can be done with it.

import { button, empty, field, fill, h, plain, web } from "../dom.js";
import { capital, count, counted, date, roughly, span, words } from "../format.js";
import { confirmed, doing, tell } from "../notices.js";
import { Table } from "../table.js";

/**
 * @import { CrawlList, CrawlRow } from "api"
 * @import { Api } from "../api.js"
 * @import { Child } from "../dom.js"
 * @import { Column } from "../table.js"
 */

/** @type {Record<string, string>} */
const TONES = { running: "good", paused: "warn", disk_full: "bad", killed: "bad", failed: "bad" };

export class CrawlTable {
  #api;
  #operates;
  #again;
  #table;
  #place = h("div", {});
  #left = h("p", { class: "hint" });
  element = h("div", {}, this.#place, this.#left);

  /**
   * @param {Api} api
   * @param {boolean} operates
   * @param {() => unknown} again looks anew
   */
  constructor(api, operates, again) {
    this.#api = api;
    this.#operates = operates;
    this.#again = again;
    /** @type {Column<CrawlRow>[]} */
    const columns = [
      { label: "Crawl", of: ({ name, kind, link }) => [name, kind, link], draw: (row) => named(row), order: ({ name }) => name },
      { label: "State", of: ({ state, error }) => [state, error], draw: (row) => standing(row), order: ({ state }) => state },
      { label: "Pages", of: ({ pages }) => count(pages), number: true, order: ({ pages }) => pages ?? -1 },
      { label: "Runs", of: ({ runs }) => (runs ? count(runs) : "–"), number: true, order: ({ runs }) => runs },
      { label: "Last run", of: (row) => lastRun(row), draw: (row) => drawnRun(row), order: ({ began }) => began ?? 0 },
      { label: "Actions", of: ({ running, dashboard, link, state, opened }) => [running, dashboard, link, state, opened], draw: (row) => this.#actions(row) },
    ];
    this.#table = new Table({ caption: "The crawls of the folder", columns, key: ({ name }) => name, className: "cards" });
  }

  /** @param {CrawlList} found */
  show({ crawls, left_out }) {
    const shown = crawls.length ? this.#table.element : this.#nothing();
    if (this.#place.firstElementChild !== shown) fill(this.#place, shown);
    this.#table.show(crawls);
    fill(this.#left, left_out ? `${counted(left_out, "crawl")} more, begun or ended before these, are in the folder.` : null);
  }

  #empty = empty("There is no crawl in this folder yet", "Start one with the form: a name, and the address of a site.");
  #emptyToLook = empty("There is no crawl in this folder yet", "Who has the token to operate can start one here.");

  #nothing() {
    return this.#operates ? this.#empty : this.#emptyToLook;
  }

  /**
   * @param {CrawlRow} row
   * @returns {Child}
   */
  #actions(row) {
    if (row.link) return h("span", { class: "hint" }, "It is in another folder.");
    /** @type {Child[]} */
    const buttons = [];
    if (!this.#operates && row.dashboard) buttons.push(h("a", { href: reached(row.dashboard), target: "_blank", rel: "noopener" }, "Dashboard"));
    if (this.#operates && (row.dashboard || !row.running)) {
      buttons.push(this.#button(row, row.running ? "Dashboard" : "Open", () => this.#open(row), row.running ? "main" : null));
    }
    if (this.#operates && !row.running) buttons.push(this.#button(row, "Go on", () => this.#goOn(row)));
    if (this.#operates && row.opened) buttons.push(this.#button(row, "Close", () => this.#close(row)));
    if (this.#operates && row.running && row.dashboard) buttons.push(this.#button(row, "Stop", () => this.#stop(row)));
    buttons.push(this.#button(row, "Report", () => this.#report(row)));
    return h("div", { class: "buttons" }, buttons);
  }

  /**
   * @param {CrawlRow} row
   * @param {string} label
   * @param {() => Promise<unknown>} action
   * @param {string | null} look
   */
  #button({ name }, label, action, look = null) {
    const pressed = button(label, () => doing(pressed, async () => {
      await action();
      this.#again();
    }), { class: look, "aria-label": `${label}: ${plain(name)}` });
    return pressed;
  }

  /** @param {CrawlRow} row */
  async #open({ name }) {
    // At the press: a browser blocks a window that comes later.
    const tab = window.open("about:blank", "_blank");
    if (tab) tab.document.title = `Opening ${plain(name)} …`;
    try {
      const { enter } = await this.#api.post("/crawls/{name}/open", { path: { name } });
      if (!enter) tab?.close();
      else if (tab) tab.location.replace(enter);
      else location.assign(enter);
    } catch (error) {
      tab?.close();
      throw error;
    }
  }

  /** @param {CrawlRow} row */
  async #close({ name }) {
    await this.#api.post("/crawls/{name}/close", { path: { name } });
    tell(`${plain(name)} is closed.`);
  }

  /** @param {CrawlRow} row */
  async #goOn({ name, state, pages }) {
    /** @type {{ max_pages?: number }} */
    const body = {};
    if (state === "limit_reached") {
      const most = h("input", { type: "number", min: (pages ?? 0) + 1, step: 1, inputmode: "numeric" });
      const hint = `Of all runs together; there are ${counted(pages ?? 0, "page")}. Empty: the limit stays, whichever it was.`;
      const sure = await confirmed(`Go on with ${plain(name)}`, field("Most pages", most, hint), "Go on", { danger: false });
      if (!sure) return;
      if (most.value) body.max_pages = Number(most.value);
    }
    const { crawl } = await this.#api.post("/crawls/{name}/go_on", { path: { name }, body });
    tell(ending(crawl));
  }

  /** @param {CrawlRow} row */
  async #stop({ name }) {
    const text = h("p", {}, "Everything is saved, and it can go on later.");
    if (!(await confirmed(`Stop ${plain(name)}?`, text, "Stop"))) return;
    await this.#api.post("/crawls/{name}/stop", { path: { name } });
    tell(`${plain(name)} stops.`);
  }

  /** @param {CrawlRow} row */
  async #report({ name }) {
    const address = URL.createObjectURL(await this.#api.file("/crawls/{name}/report", { path: { name } }));
    h("a", { href: address, download: `${name}-report.html` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }
}

/**
 * A dashboard at the host that this page was reached by: another name of it is another site for a browser.
 * @param {string} dashboard
 */
function reached(dashboard) {
  if (!URL.canParse(dashboard)) return dashboard;
  const address = new URL(dashboard);
  address.hostname = location.hostname;
  return address.href;
}

/**
 * What became of a crawl that was started.
 * @param {CrawlRow} crawl
 */
export function ending({ name, running, state, pages }) {
  const shown = plain(name);
  return running ? `${shown} runs.` : `${shown} has ended: ${words(state)}, ${counted(pages ?? 0, "page")}.`;
}

/**
 * @param {CrawlRow} row
 * @returns {Child[]}
 */
function named({ name, kind, link }) {
  return [web(name), kind === "cluster" && h("span", { class: "sub" }, "cluster"), link && h("span", { class: "sub" }, "link")];
}

/**
 * @param {CrawlRow} row
 * @returns {Child[]}
 */
function standing({ state, error }) {
  const said = state === "unknown" ? "not known" : words(state);
  return [h("span", { class: `pill ${TONES[state] ?? ""}`.trim() }, capital(said)), error && h("span", { class: "sub bad-text" }, plain(error))];
}

/**
 * When, and how long: in few words, so that it is drawn again only when they change.
 * @param {CrawlRow} row
 */
function lastRun({ began: begin, ended, running }) {
  if (begin === null) return ["–"];
  const now = Date.now() / 1000;
  if (running) return [`for ${roughly(begin, now)}`.replace(" ago", "").replace("for now", "from now on"), `since ${date(begin)}`];
  return ended === null ? [`begun ${roughly(begin, now)}`, "end not known"] : [roughly(ended, now), `took ${span(ended - begin)}`];
}

/**
 * @param {CrawlRow} row
 * @returns {Child[]}
 */
function drawnRun(row) {
  const [first = "", second = ""] = lastRun(row);
  const title = row.began === null ? null : `${date(row.began)}${row.ended === null ? "" : ` to ${date(row.ended)}`}`;
  return [h("span", { title }, first), second ? h("span", { class: "sub" }, second) : null];
}
