// A host: all that is known of it, and what can be done.

import { keepAsking } from "../asking.js";
import { empty, facts, fill, h, link, plain, web } from "../dom.js";
import { bytes, count, counted, date, figure, relative, short, span, words } from "../format.js";
import { actions, gapSource, nextVisit, robots, standing } from "../hosting.js";
import { patternCards } from "../patterns.js";
import { Plot } from "../plot.js";
import { Visits, urlPage } from "../visits.js";

/**
 * @import { HostDetail, HostRow, LoggedVisit, QueuedUrl, RobotsText, RobotsView } from "api"
 * @import { Child } from "../dom.js"
 * @import { Context } from "../shell.js"
 * @import { Live } from "../live.js"
 */

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal, operates, rest: name } = context;
  const place = h("div", {});
  const queue = h("section", { class: "card" });
  const robotsFiles = h("section", { class: "card" });
  const errors = h("div", {}, h("p", { class: "hint" }, "Looking…"));
  const plot = new Plot({ title: "Time to answer", unit: "milliseconds, by visit", format: (value) => `${figure(value)} ms`, axis: short });
  const visits = new Visits(context, { host: name }, {
    caption: "Recent visits", limit: 100, host: false,
    none: () => empty("Not visited yet", "Its visits are listed here when they have ended."),
    onshow: (shown) => { drawTimes(plot, shown, live.now()); fill(errors, failures(shown, context)); },
  });
  const steering = h("div", {});
  root.append(
    h("p", { class: "crumb" }, link("#/hosts", "Hosts")),
    h("h1", {}, web(name)),
    steering,
    place,
    h("div", { class: "below halves" }, plot.element, h("section", { class: "card" }, h("h2", {}, "Recent failures"), errors)),
    h("div", { class: "below halves" }, queue, robotsFiles),
    h("div", { class: "below" }, patternCards(context, name)),
    h("h2", {}, "Recent visits"),
    visits.element,
  );
  visits.begin();
  signal.addEventListener("abort", () => plot.close());
  /** @type {HostDetail | null} */
  let detail = null;
  /** @type {HostRow | null} */
  let row = null;
  keepAsking(context, queue, 10, () => api.get("/hosts/{host}/detail", { path: { host: name }, signal }), (found) => {
    detail = found;
    fill(queue, queueSample(detail.queue, live.now()));
    showRobots(robotsFiles, detail, row);
  });
  let drawn = "";
  /** @param {HostRow} host */
  const draw = (host) => {
    row = host;
    if (detail) showRobots(robotsFiles, detail, row);
    fill(place, account(host, live));
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
 * @param {Live} live
 */
export function account(host, live) {
  const now = live.now();
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
        ["Next visit", nextVisit(host, now, live.rests)],
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

/**
 * @param {Plot} plot
 * @param {LoggedVisit[]} visits
 * @param {number} now
 */
function drawTimes(plot, visits, now) {
  // Only answers: a connection that is refused at once would look like a quick host.
  const took = visits.filter((visit) => visit.status !== null && visit.ip !== null && visit.ms !== null).toReversed();
  const [first, last] = [took[0]?.time ?? now, took.at(-1)?.time ?? now];
  plot.show({
    times: took.map((visit) => visit.time),
    series: [{ label: "took", colour: 1, values: took.map((visit) => visit.ms) }],
    span: [Math.min(first, last - 60), last],
    least: 10,
    now: took.length ? counted(took.length, "answer") : "",
  });
}

/**
 * @param {LoggedVisit[]} visits
 * @param {Context} context
 */
function failures(visits, { outcomes, live }) {
  if (!visits.length) return h("p", { class: "hint" }, "No visit has ended yet.");
  const failed = visits.filter((visit) => outcomes.group(visit.outcome) === "failed").slice(0, 8);
  if (!failed.length) return h("p", { class: "hint" }, visits.length === 1 ? "Its only visit did not fail." : `None of the last ${counted(visits.length, "visit")} failed.`);
  return h(
    "ul",
    { class: "plain" },
    failed.map((visit) =>
      h(
        "li",
        {},
        h("span", { class: "bad-text", title: outcomes.meaning(visit.outcome) }, words(visit.outcome)),
        ` ${relative(visit.time, live.now())}: `,
        link(urlPage(visit.url), web(visit.url, "url cut")),
        visit.reason !== null && h("span", { class: "sub" }, web(visit.reason)),
      ),
    ),
  );
}

/**
 * @param {QueuedUrl[]} queue
 * @param {number} now
 */
function queueSample(queue, now) {
  const head = h("h2", {}, "Next in its queue");
  if (!queue.length) return [head, h("p", { class: "hint" }, "Nothing is queued.")];
  /** @param {QueuedUrl} one */
  const about = ({ depth, tries, not_before: later }) =>
    [`depth ${depth}`, tries > 0 && counted(tries, "try", "tries"), later !== null && later > now && `${relative(later, now)} at the earliest`].filter(Boolean).join(", ");
  return [
    head,
    h("p", { class: "hint" }, queue.length === 1 ? "One URL." : `The first ${count(queue.length)}, in their order. What waits for a time comes last.`),
    h("ol", { class: "plain" }, queue.map((one) => h("li", {}, link(urlPage(one.url), web(one.url, "url cut")), " ", h("span", { class: "hint about" }, about(one))))),
  ];
}

/**
 * Drawn again only when they change: somebody may read them.
 * @param {HTMLElement} place
 * @param {HostDetail} detail
 * @param {HostRow | null} host
 */
function showRobots(place, detail, host) {
  const kinds = [host?.robots_http.kind, host?.robots_https.kind];
  const key = JSON.stringify([detail.robots_http, detail.robots_https, kinds]);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  /** @type {[string, RobotsText | null][]} */
  const files = [["http", detail.robots_http], ["https", detail.robots_https]];
  const shown = files.flatMap(([scheme, file]) => (file === null ? [] : [
    h("h3", {}, `robots.txt over ${scheme}`, " ", h("span", { class: "unit" }, bytes(file.bytes))),
    // Line ends are kept; everything else that cannot be seen is written out.
    h("pre", { class: "robots-text", tabindex: "0" }, file.text.split(/\r?\n/u).map((line) => `${plain(line.replaceAll("\t", " "))}\n`)),
    file.cut && h("p", { class: "hint" }, "Only its beginning is shown."),
  ]));
  fill(place, h("h2", {}, "Robots files"), shown.length ? shown : h("p", { class: "hint" }, noRobots(kinds)));
}

/**
 * Why there is no robots file to show.
 * @param {(string | undefined)[]} kinds
 */
function noRobots(kinds) {
  if (kinds.includes("unreachable")) return "It could not be had; nothing is visited meanwhile.";
  if (kinds.includes("allow_all")) return "The site has none: everything is allowed.";
  return "It was not asked for yet: that comes before the first visit.";
}
