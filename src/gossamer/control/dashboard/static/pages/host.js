// A host: all that is known of it, and what can be done.

import { keepAsking } from "../asking.js";
import { facts, fill, h, link, web } from "../dom.js";
import { bytes, count, date, relative, span, words } from "../format.js";
import { actions, gapSource, nextVisit, robots, standing } from "../hosting.js";
import { patternCards } from "../patterns.js";

/**
 * @import { HostRow, RobotsView } from "api"
 * @import { Child } from "../dom.js"
 * @import { Context } from "../shell.js"
 */

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal, operates, rest: name } = context;
  const place = h("div", {});
  const steering = h("div", {});
  root.append(
    h("p", { class: "crumb" }, link("#/hosts", "Hosts")),
    h("h1", {}, web(name)),
    steering,
    place,
    h("div", { class: "below" }, patternCards(context, name)),
  );
  let drawn = "";
  /** @param {HostRow} host */
  const draw = (host) => {
    fill(place, account(host, live.now()));
    const key = JSON.stringify([host.blocked, host.set_aside, host.given_up, host.override, host.failures_in_a_row > 0]);
    if (operates && key !== drawn) {
      drawn = key;
      fill(steering, actions(api, host, (after) => { draw(after); again(); }));
    }
  };
  const again = keepAsking(context, place, 3, () => api.get("/hosts/{host}", { path: { host: name }, signal }), draw);
}

/**
 * @param {HostRow} host
 * @param {number} now
 */
export function account(host, now) {
  /**
   * @param {string} label
   * @param {RobotsView} view
   * @returns {[string, Child]}
   */
  const scheme = (label, view) => [label, robots(view, now)];
  return h(
    "div",
    { class: "halves" },
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Whose turn"),
      facts([
        ["State", [standing(host.standing), host.given_up && ` after ${words(host.given_up)}`]],
        ["Next visit", nextVisit(host, now)],
        ["Gap", `${span(host.gap)}, from ${gapSource(host.gap_source)}`],
        ["Crawl-delay", host.crawl_delay ? span(host.crawl_delay) : "none asked for"],
        ["Own gap", host.override === null ? null : span(host.override)],
        ["Last visit", host.last_end === null ? "none yet" : `${relative(host.last_end, now)} (${date(host.last_end)})`],
        ["Last response", host.response_time ? `took ${span(host.response_time)}` : null],
        ["Under way", count(host.under_way)],
        scheme("Robots, http", host.robots_http),
        scheme("Robots, https", host.robots_https),
      ]),
    ),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "How much"),
      facts([
        ["Queued", `${count(host.queued)}${host.waiting ? `, ${count(host.waiting)} of them wait for a time` : ""}`],
        ["Pages", count(host.pages)],
        ["Quota", host.quota === null ? "no limit" : `${count(host.quota)} pages, ${count(Math.max(0, host.quota - host.pages))} left`],
        ["Received", bytes(host.bytes)],
        ["Errors", `${count(host.errors)}${host.failures_in_a_row ? `, ${count(host.failures_in_a_row)} in a row now` : ""}`],
        ["Last failure", host.last_failure ? words(host.last_failure.outcome) : null],
        ["Set aside", host.set_asides ? `${count(host.set_asides)} times` : "never"],
        ["Address", host.ip === null ? "not known yet" : web(host.ip)],
        ["Partition", count(host.partition)],
        ["Owner", host.node === null ? "nobody at the moment" : web(host.node)],
      ]),
    ),
  );
}
