// Hosts in words, and what can be done to one.

import { button, field, h } from "./dom.js";
import { capital, relative, span, words } from "./format.js";
import { confirmed, doing, tell } from "./notices.js";

/**
 * @import { Api } from "./api.js"
 * @import { Attributes } from "./dom.js"
 * @import { HostAction, HostRow, HostStanding, RobotsView } from "api"
 */

/** @type {[HostStanding, string][]} */
export const STANDINGS = [
  ["idle", "Idle"], ["active", "Being visited"], ["waiting", "Waiting"], ["set_aside", "Set aside"],
  ["blocked", "Blocked"], ["given_up", "Given up"],
];
/** @type {Record<HostStanding, string>} */
const TONES = { active: "good", waiting: "calm", idle: "calm", set_aside: "warn", blocked: "bad", given_up: "bad" };
/** @type {Record<string, string>} */
const SOURCES = {
  setting: "the setting politeness.delay",
  override: "its own entry in politeness.overrides",
  crawl_delay: "the site's Crawl-delay",
  rule: "a rule of the crawl",
  response_time: "the time of its last response",
  policy: "a policy of hosts",
  throttled: "the host, which asked for less a while ago",
};

/** @param {HostStanding} name */
export function standing(name) {
  const label = STANDINGS.find(([key]) => key === name)?.[1] ?? capital(words(name));
  return h("span", { class: `pill ${TONES[name] ?? "calm"}` }, label);
}

/** @param {string} name */
export function gapSource(name) {
  return SOURCES[name] ?? words(name);
}

/**
 * @param {HostRow} host
 * @param {number} now
 * @param {string | null} rests why no visit is to come
 */
export function nextVisit(host, now, rests) {
  if (host.blocked) return "not while it is blocked";
  if (host.given_up) return "none: it was given up";
  if (!host.queued) return "nothing is queued";
  if (host.under_way) return "under way";
  if (rests !== null) return `not while ${rests}`;
  if (host.due > now) return relative(host.due, now);
  return host.waiting >= host.queued ? "when the time of one of its URLs has come" : "as soon as there is room";
}

/**
 * The same in a word or two, beside the state that says why.
 * @param {HostRow} host
 * @param {number} now
 * @param {string | null} rests why no visit is to come
 */
export function nextShort(host, now, rests) {
  if (host.blocked || host.given_up || !host.queued) return "–";
  if (host.under_way) return "under way";
  if (rests !== null) return "–";
  if (host.due >= now + 1) return relative(host.due, now);
  return host.waiting >= host.queued ? "waits" : "due";
}

/**
 * @param {RobotsView} view
 * @param {number} now
 */
export function robots(view, now) {
  if (view.kind === "rules") return `has rules, fresh for ${span(Math.max(0, view.until - now))}`;
  if (view.kind === "allow_all") return "no rules: everything is allowed";
  if (view.kind === "unreachable") return `could not be had since ${relative(view.since, now)} (${view.tries} tries); nothing is visited meanwhile, next try ${relative(view.until, now)}`;
  return "not asked yet";
}

/**
 * One short word on the rules of a host, for lists.
 * @param {HostRow} host
 */
export function robotsShort(host) {
  const kinds = new Set([host.robots_http.kind, host.robots_https.kind]);
  if (kinds.has("unreachable")) return "unreachable";
  if (kinds.has("rules")) return "rules";
  return kinds.has("allow_all") ? "allows all" : "not asked";
}

/**
 * Does something to a host; the answer is the host as it is then.
 * @param {Api} api
 * @param {string} name
 * @param {HostAction} action
 * @param {number | null} seconds
 */
export async function steer(api, name, action, seconds = null) {
  const body = seconds === null ? { action } : { action, seconds };
  const host = await api.post("/hosts/{host}", { path: { host: name }, body });
  tell(`${capital(words(action))}: ${name} was told.`);
  return host;
}

/**
 * The buttons that fit how the host stands. `after(host)` is called with the host as it is then.
 * @param {Api} api
 * @param {HostRow} host
 * @param {(host: HostRow) => void} after
 */
export function actions(api, host, after) {
  /** @type {HTMLButtonElement[]} */
  const list = [];
  /**
   * @param {string} label
   * @param {() => Promise<HostRow | null>} run
   * @param {Attributes} attributes
   */
  const offer = (label, run, attributes = {}) => {
    /** @type {HTMLButtonElement} */
    const go = button(label, () => doing(go, async () => {
      const changed = await run();
      if (changed) after(changed);
    }), attributes);
    list.push(go);
  };
  /** @param {HostAction} action */
  const now = (action) => () => steer(api, host.name, action);
  if (host.blocked) offer("Unblock", now("unblock"));
  else offer("Block", now("block"));
  offer("Slow down…", () => timed(api, host, "slow_down"));
  if (host.override !== null) offer("Take its own gap away", now("speed_up"));
  if (host.set_aside || host.failures_in_a_row || host.given_up) offer("Retry now", now("retry"));
  if (!host.set_aside) offer("Set aside…", () => timed(api, host, "set_aside"));
  if (!host.given_up) {
    offer("Forget…", async () => {
      const text = `It is given up: its ${host.queued} queued URLs leave the queue and it is not visited again. Pages already stored stay.`;
      return (await confirmed(`Forget ${host.name}?`, h("p", {}, text), "Forget the host")) ? steer(api, host.name, "forget") : null;
    }, { class: "danger" });
  }
  return h("div", { class: "buttons" }, list);
}

const QUESTIONS = {
  slow_down: { title: "Slow down", label: "Least time between two visits, in seconds", yes: "Slow down", value: (/** @type {HostRow} */ host) => Math.max(1, Math.ceil(host.gap * 2)), most: 31_536_000, scale: 1 },
  set_aside: { title: "Set aside", label: "No visit for so many minutes", yes: "Set aside", value: () => 60, most: 525_600, scale: 60 },
};

/**
 * @param {Api} api
 * @param {HostRow} host
 * @param {keyof typeof QUESTIONS} action
 */
async function timed(api, host, action) {
  const { title, label, yes, value, most, scale } = QUESTIONS[action];
  const input = h("input", { type: "number", min: 0, max: most, step: "any", required: true, value: value(host) });
  const go = await confirmed(`${title} ${host.name}`, field(label, input), yes, { danger: false });
  return go ? steer(api, host.name, action, Number(input.value) * scale) : null;
}
