// The page of a folder: its crawls, and a form that starts one.

import { Api, Refusal } from "../api.js";
import { button, fill, h, plain, say, web } from "../dom.js";
import { signIn } from "../login.js";
import { mark } from "../mark.js";
import { asError, clearNotices, places } from "../notices.js";
import * as session from "../session.js";
import { startForm } from "./form.js";
import { CrawlTable } from "./list.js";

/** @import { Access, CrawlList } from "api" */

const EVERY = 2000;
const LOGIN = {
  about: "The crawls of a folder: how each stands, and a way to start one.",
  file: ".gossamer/token",
  readFile: ".gossamer/token-read",
  of: "of the folder",
};

/** @type {Page | null} */
let running = null;

class Page {
  #api;
  #closed = false;
  #asking = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #folder = h("span", { class: "crawl" });
  #line = h("span", { class: "live-mark", role: "status", "data-state": "connecting" }, "connecting…");
  #lost = h("div", { class: "lost", hidden: true });
  #table;

  /**
   * @param {Api} api
   * @param {Access} access
   */
  constructor(api, access) {
    this.#api = api;
    const operates = access.role === "operate";
    const again = () => this.look();
    this.#table = new CrawlTable(api, operates, again);
    const form = operates ? startForm(api, again) : null;
    this.elements = [
      h("header", { class: "top" }, h("span", { class: "brand" }, mark(26), h("span", {}, "Gossamer")), this.#folder, this.#line),
      h(
        "div",
        { class: "content" },
        this.#lost,
        h(
          "main",
          { class: "crawls-page" },
          h("div", { class: "section-head" }, h("h1", {}, "Crawls"), form && button("Start a crawl", () => form.querySelector("input")?.focus(), { class: "to-form" })),
          h("div", { class: form ? "with-aside" : null }, h("div", {}, this.#table.element), form && h("aside", {}, form)),
        ),
        h("footer", {}, h("span", {}, `Signed in to ${operates ? "operate" : "look"} (token ${access.token_id})`), button("Sign out", () => end(null), { class: "quiet" })),
      ),
      places,
    ];
  }

  /** Asks now, and every two seconds as long as somebody looks. */
  async look() {
    clearTimeout(this.#timer);
    if (this.#closed || this.#asking) return;
    this.#asking = true;
    try {
      if (!document.hidden) this.#show(await this.#api.get("/crawls", {}));
    } catch (error) {
      this.#fail(asError(error).message);
    }
    this.#asking = false;
    if (!this.#closed) this.#timer = setTimeout(() => this.look(), EVERY);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** @param {CrawlList} found */
  #show(found) {
    if (this.#closed) return;
    this.#lost.hidden = true;
    this.#line.dataset.state = "live";
    say(this.#line, "live");
    const whole = plain(found.folder);
    if (this.#folder.title !== whole) {
      const name = found.folder.split("/").at(-1) || found.folder;
      this.#folder.title = whole;
      fill(this.#folder, web(name));
      document.title = `Crawls · ${name} · Gossamer`;
    }
    this.#table.show(found);
  }

  /** @param {string} why */
  #fail(why) {
    if (this.#closed) return;
    this.#line.dataset.state = "lost";
    say(this.#line, "reconnecting…");
    this.#lost.hidden = false;
    say(this.#lost, `${why} What is shown is old; it is tried again by itself. Crawls do not need this page.`);
  }
}

/** @param {string} token */
async function begin(token) {
  const api = new Api(token, "The page's server");
  let access;
  try {
    access = await api.get("/access", {});
  } catch (error) {
    const wrong = error instanceof Refusal && error.status === 401;
    if (wrong) session.forget();
    const { message } = asError(error);
    ask(wrong ? `${message} Each folder has its own: paste the whole line of its file.` : message, wrong ? "" : token);
    return;
  }
  session.keep(token);
  api.onSignedOut = () => end("The token is not taken any more. Paste the one of the folder that is served now.");
  const page = new Page(api, access);
  running?.close();
  running = page;
  clearNotices();
  fill(document.body, ...page.elements);
  page.look();
}

/** @param {string | null} said */
function end(said) {
  running?.close();
  running = null;
  session.forget();
  ask(said);
}

/** @param {string | null} said */
function ask(said, token = "") {
  fill(document.body, signIn(begin, said, token, LOGIN));
  document.querySelector("input")?.focus();
}

// A link with another token, opened in a tab that is signed in already.
window.addEventListener("hashchange", () => {
  const token = session.takeFromFragment();
  if (token) begin(token);
});
document.addEventListener("visibilitychange", () => document.hidden || running?.look());

const token = session.takeFromFragment() ?? session.kept();
if (token) begin(token);
else ask(null);
