// The shell: head, navigation, alerts that stand, and the page that the address names.

import { keepAsking } from "./asking.js";
import { command } from "./commands.js";
import { button, fill, h, link, say, web } from "./dom.js";
import { capital, counted, figure, span, words } from "./format.js";
import { mark } from "./mark.js";
import { clearNotices, doing, places } from "./notices.js";
import * as events from "./pages/events.js";
import * as host from "./pages/host.js";
import * as hosts from "./pages/hosts.js";
import * as log from "./pages/log.js";
import * as nodes from "./pages/nodes.js";
import * as overview from "./pages/overview.js";
import * as partitions from "./pages/partitions.js";
import * as runs from "./pages/runs.js";
import * as seeds from "./pages/seeds.js";
import * as settings from "./pages/settings.js";
import * as submission from "./pages/submission.js";
import * as url from "./pages/url.js";

/**
 * @import { Access, Alert, Command, Status } from "api"
 * @import { Api } from "./api.js"
 * @import { Live } from "./live.js"
 * @import { Outcomes } from "./outcomes.js"
 *
 * What every page works with.
 * @typedef {object} Shared
 * @property {Api} api
 * @property {Live} live
 * @property {Access} access
 * @property {Outcomes} outcomes
 * @property {boolean} operates whether something can be changed: by this token, of a crawl that runs
 * @property {string} looksOnly why not, as a sentence
 *
 * What a page works with: of its address, the `rest` after its name and the `query`; `signal` ends with the page.
 * @typedef {Shared & { rest: string, query: URLSearchParams, signal: AbortSignal }} Context
 *
 * @typedef {{ show: (root: HTMLElement, context: Context) => void }} Page
 */

/** @type {[string, string, Page]} */
const FIRST = ["overview", "Overview", overview];
/** @type {[string, string, Page, Page?][]} name, label, page, page of a single one */
const PAGES = [
  FIRST,
  ["nodes", "Nodes", nodes],
  ["partitions", "Partitions", partitions],
  ["hosts", "Hosts", hosts, host],
  ["url", "URL", url],
  ["log", "Fetch log", log],
  ["settings", "Settings", settings],
  ["seeds", "Seeds", seeds, submission],
  ["runs", "Runs", runs],
  ["events", "Events", events],
];
/** @type {Record<string, string>} */
const TONES = { running: "good", paused: "warn", disk_full: "bad", finished: "calm", limit_reached: "calm", stopped: "calm", unknown: "calm" };

export class Shell {
  /** @type {Shared} */
  #context;
  #closed = new AbortController();
  /** @type {AbortController | null} */
  #page = null;
  #state = h("span", { class: "pill" });
  #crawl = h("span", { class: "crawl" });
  #line = h("span", { class: "live-mark", role: "status" });
  #steer = button("Pause", () => this.#pauseOrResume(), { class: "steer", disabled: true });
  /** Alerts are told on the overview; that there are some, on every page. */
  #alerts = h("a", { class: "pill alerts-mark", href: "#/overview", hidden: true });
  #lost = h("div", { class: "lost", hidden: true });
  #main = h("main", { id: "main", tabindex: "-1" });
  /** @type {Map<string, HTMLAnchorElement>} */
  #links = new Map();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /** @param {Omit<Shared, "operates" | "looksOnly"> & { ended: boolean, signOut: () => void }} given */
  constructor({ api, live, access, outcomes, ended, signOut }) {
    this.#context = {
      api, live, access, outcomes,
      operates: access.role === "operate" && !ended,
      looksOnly: ended
        ? "The crawl does not run: its files are shown, and nothing can be changed."
        : "This token may look and change nothing; the one in control/token may do both.",
    };
    for (const [name, label] of PAGES) this.#links.set(name, link(`#/${name}`, label));
    const skip = h(
      "a",
      {
        class: "skip",
        href: "#main",
        onclick: (event) => {
          // The fragment is the page's address here, so the jump is made by hand.
          event.preventDefault();
          this.#main.focus();
        },
      },
      "Skip to the page",
    );
    const readOnly = access.role === "read" && !ended ? h("span", { class: "pill", title: "This token may look and change nothing" }, "read only") : null;
    this.elements = [
      skip,
      h(
        "header",
        { class: "top" },
        h("a", { class: "brand", href: "#/overview" }, mark(26), h("span", {}, "Gossamer")),
        this.#crawl,
        this.#state,
        this.#alerts,
        readOnly,
        this.#line,
        this.#context.operates && this.#steer,
      ),
      h("nav", { "aria-label": "Pages" }, h("ul", {}, [...this.#links.values()].map((one) => h("li", {}, one)))),
      h(
        "div",
        { class: "content" },
        this.#lost,
        this.#main,
        h(
          "footer",
          {},
          h("span", {}, `Signed in to ${this.#context.operates ? "operate" : "look"} (token ${access.token_id})`),
          button("Sign out", signOut, { class: "quiet" }),
        ),
      ),
      places,
    ];
  }

  begin() {
    const { live } = this.#context;
    const { signal } = this.#closed;
    live.on("status", (status) => this.#show(status), signal);
    live.on("state", () => this.#showLine(), signal);
    window.addEventListener("hashchange", () => this.#route(), { signal });
    this.#timer = setInterval(() => this.#showLine(), 1000);
    this.#showLine();
    this.#open();
    const look = keepAsking({ live, signal }, h("div", {}), 10, () => this.#context.api.get("/alerts", { signal }), (alerts) => this.#showAlerts(alerts));
    live.on("event", ({ kind }) => kind.startsWith("alert") && look(), signal);
  }

  close() {
    clearInterval(this.#timer);
    this.#closed.abort();
    this.#page?.abort();
  }

  #route() {
    if (location.hash.startsWith("#token=")) return;
    clearNotices();
    this.#open();
    window.scrollTo(0, 0);
    this.#main.querySelector("h1")?.focus();
  }

  #open() {
    const { name, label, page, rest, query } = address();
    this.#page?.abort();
    this.#page = new AbortController();
    for (const [one, element] of this.#links) {
      if (one === name) element.setAttribute("aria-current", "page");
      else element.removeAttribute("aria-current");
    }
    this.#label = label;
    this.#title();
    fill(this.#main);
    page.show(this.#main, { ...this.#context, rest, query, signal: this.#page.signal });
    for (const heading of this.#main.querySelectorAll("h1")) heading.setAttribute("tabindex", "-1");
  }

  #label = "";
  /** Whether a command would be taken, if somebody heard it. */
  #steerable = false;
  /** @type {Command} what the button in the head does */
  #next = "pause";

  #title() {
    const { status } = this.#context.live;
    document.title = [this.#label, status.crawl, "Gossamer"].filter(Boolean).join(" · ");
  }

  /** @param {Status} status */
  #show(status) {
    const now = status.wanted === "stop" ? "stopping" : status.activity;
    // As the report says it: a copy without a state does not tell how the crawl ended.
    const said = now === "unknown" ? "no state" : words(now);
    say(this.#state, capital(said) + (status.read_only === null ? "" : ", read-only"));
    this.#state.className = `pill ${TONES[now] ?? "warn"}`;
    if (this.#crawl.textContent !== status.crawl) {
      fill(this.#crawl, web(status.crawl));
      this.#title();
    }
    const paused = status.wanted === "pause";
    say(this.#steer, paused ? "Resume" : "Pause");
    this.#steerable = status.wanted !== "stop";
    this.#steer.disabled = !this.#steerable || this.#context.live.state === "lost";
    this.#next = paused ? "resume" : "pause";
    if (this.#context.live.state === "live") {
      this.#line.title = status.pages_per_second === null ? "" : `${figure(status.pages_per_second)} pages/s`;
    }
  }

  /** @param {Alert[]} alerts */
  #showAlerts(alerts) {
    const grave = alerts.filter(({ severity }) => severity !== "notice");
    const critical = grave.some(({ severity }) => severity === "critical");
    this.#alerts.hidden = !grave.length;
    this.#alerts.className = `pill alerts-mark ${critical ? "bad" : "warn"}`;
    this.#alerts.title = grave.map(({ text }) => text).join("; ");
    say(this.#alerts, counted(grave.length, "alert"));
  }

  #showLine() {
    const { live } = this.#context;
    const texts = { live: "live", connecting: "connecting…", lost: "reconnecting…" };
    say(this.#line, texts[live.state]);
    this.#line.dataset.state = live.state;
    const away = (Date.now() - live.since) / 1000;
    const lost = live.state === "lost" && away > 2;
    this.#steer.disabled = !this.#steerable || live.state === "lost";
    this.#lost.hidden = !lost;
    if (!lost) return;
    if (live.reason) {
      say(this.#lost, `There are no live updates: ${live.reason} It is tried again by itself.`);
      return;
    }
    say(
      this.#lost,
      live.ended
        ? "The crawl has ended and its control node with it. What is shown is the last that was heard; everything is kept in the crawl's directory, and `gossamer open` shows it again."
        : `The control node has not answered for ${span(Math.round(away))}. What is shown is old. It is tried again by itself; the crawl does not need this page.`,
    );
  }

  #pauseOrResume() {
    return doing(this.#steer, () => command(this.#context.api, this.#next));
  }
}

function address() {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/u, "").split(/\?(.*)/su);
  const [name, ...more] = path.split("/");
  const [key, label, list, single] = PAGES.find(([one]) => one === name) ?? FIRST;
  let rest = more.join("/");
  try {
    rest = decodeURIComponent(rest);
  } catch {
    // Typed by hand, perhaps: as it stands.
  }
  const page = rest && single ? single : list;
  return { name: key, label, page, rest, query: new URLSearchParams(search) };
}
