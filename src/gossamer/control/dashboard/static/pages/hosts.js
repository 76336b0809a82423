// Hosts: sorted, searched, a page at a time.

import { keepAsking } from "../asking.js";
import { button, empty, field, fill, h, link, say, select, web } from "../dom.js";
import { count, counted, roughly, span, words } from "../format.js";
import { STANDINGS, gapSource, nextShort, robotsShort, standing, steer } from "../hosting.js";
import { doing } from "../notices.js";
import { Table } from "../table.js";

/**
 * @import { HostRow, HostSort, HostStanding } from "api"
 * @import { Column } from "../table.js"
 * @import { Context } from "../shell.js"
 */

/**
 * An order; with a minus it goes the other way round.
 * @typedef {HostSort | `-${HostSort}`} Order
 */
/** @type {[Order, string][]} */
const SORTS = [
  ["queued", "Most queued"], ["-queued", "Fewest queued"], ["pages", "Most pages"], ["-pages", "Fewest pages"],
  ["errors", "Most errors"], ["-errors", "Fewest errors"], ["last_visit", "Last visited first"], ["-last_visit", "Longest not visited"],
  ["next_visit", "Next visit first"], ["-next_visit", "Latest visit first"], ["name", "Name, from A"], ["-name", "Name, from Z"],
];
/** @type {[HostStanding | "", string][]} */
const STATES = [["", "All"], ...STANDINGS];
const LIMIT = 50;

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal, operates, query, outcomes } = context;
  const asked = {
    // Of a crawl that is done nothing is queued.
    sort: sortOf(query.get("sort") ?? (live.status.urls_queued ? null : "pages")),
    search: query.get("search") ?? "",
    standing: standingOf(query.get("standing")),
    failure: query.get("failure") ?? "",
  };
  // Cursors of the pages before, so that one can go back.
  /** @type {(string | null)[]} */
  let cursors = [null];
  const place = h("div", {});
  const nothing = h("div", {});
  const found = h("p", { class: "hint", role: "status" });
  /** @type {Column<HostRow>[]} */
  const columns = [
    { label: "Host", sort: "name", of: (host) => host.name, draw: ({ name }) => link(`#/hosts/${encodeURIComponent(name)}`, web(name, "cut")) },
    { label: "State", of: (host) => [host.standing, host.given_up], draw: (host) => standing(host.standing) },
    { label: "Queued", sort: "queued", number: true, of: (host) => count(host.queued) },
    { label: "Pages", sort: "pages", number: true, of: (host) => [host.pages, host.quota], draw: ({ pages, quota }) => h("span", { title: quota === null ? null : `of ${count(quota)} allowed` }, count(pages)) },
    { label: "Errors", sort: "errors", number: true, of: (host) => [host.errors, host.failures_in_a_row], draw: ({ errors, failures_in_a_row: row }) => h("span", { class: row ? "bad-text" : null, title: row ? `${count(row)} in a row now` : null }, count(errors)) },
    { label: "Last failure", of: (host) => [failureOf(host), host.failures_in_a_row > 0], draw: (host) => h("span", { class: host.failures_in_a_row || host.given_up ? "bad-text" : null, title: outcomes.meaning(failureOf(host)) }, words(failureOf(host))) },
    { label: "Gap", number: true, of: (host) => [span(host.gap), host.gap_source], draw: ({ gap, gap_source: source }) => h("span", { title: `from ${gapSource(source)}` }, span(gap)) },
    { label: "Robots", of: robotsShort },
    { label: "Last visit", sort: "last_visit", number: true, of: (host) => (host.last_end === null ? "–" : roughly(host.last_end, live.now())) },
    { label: "Next visit", sort: "next_visit", number: false, of: (host) => nextShort(host, live.now(), live.rests) },
  ];
  if (operates) columns.push({ label: "", wide: true, of: (host) => [host.name, host.blocked], draw: (host) => quick(host) });
  const table = new Table({ caption: "Hosts", className: "cards lines", key: (host) => host.name, columns, onsort: (by) => { sort.value = asked.sort === by ? `-${by}` : by; begin(); } });
  /** @param {HostRow} host */
  const quick = (host) => {
    const action = host.blocked ? "unblock" : "block";
    /** @type {HTMLButtonElement} */
    const go = button(host.blocked ? "Unblock" : "Block", () => doing(go, async () => {
      await steer(api, host.name, action);
      again();
    }), { "aria-label": `${host.blocked ? "Unblock" : "Block"} ${host.name}` });
    return go;
  };
  const search = h("input", { type: "search", maxlength: 255, value: asked.search, autocapitalize: "none", spellcheck: "false" });
  const sort = select(SORTS, asked.sort);
  const stands = select(STATES, asked.standing);
  const failing = outcomes.names("failed", asked.failure);
  const fails = select([["", "Any or none"], ...failing], asked.failure);
  const back = button("Previous", () => { cursors.pop(); turn(); });
  const on = button("Next", () => { cursors.push(next); turn(); });
  const pager = h("div", { class: "buttons pager", hidden: true }, back, on);
  /** @type {string | null} */
  let next = null;
  root.append(
    h("h1", {}, "Hosts"),
    h(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); begin(); } },
      field("Search", search, "Part of the name; ^ first: its beginning"),
      field("Order", sort),
      field("State", stands),
      field("Last failure", fails),
    ),
    found,
    place,
    nothing,
    pager,
  );
  place.append(table.element);
  table.sorted(asked.sort);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(begin, 300); });
  for (const one of [sort, stands, fails]) one.addEventListener("change", begin);

  function begin() {
    clearTimeout(typing);
    const wanted = { sort: sortOf(sort.value), search: search.value.trim(), standing: standingOf(stands.value), failure: fails.value };
    if (JSON.stringify(wanted) === JSON.stringify(asked)) return;
    Object.assign(asked, wanted);
    cursors = [null];
    table.sorted(asked.sort);
    const kept = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
    history.replaceState(null, "", `#/hosts?${kept}`);
    again();
  }

  function turn() {
    again();
    window.scrollTo(0, 0);
  }

  const again = keepAsking(
    context, place, 3,
    () => api.get("/hosts", { query: { ...asked, ...direction(asked.sort), standing: asked.standing || null, failure: asked.failure || null, cursor: cursors.at(-1) ?? null, limit: LIMIT }, signal }),
    (page) => {
      const first = (cursors.length - 1) * LIMIT;
      ({ next } = page);
      pager.hidden = cursors.length === 1 && next === null;
      back.disabled = cursors.length === 1;
      on.disabled = next === null;
      table.element.hidden = !page.hosts.length;
      table.show(page.hosts);
      const range = page.hosts.length && !pager.hidden ? `${count(first + 1)}–${count(first + page.hosts.length)} of ` : "";
      say(found, page.total ? `${range}${counted(page.matched, "host")}${page.matched < page.total ? ` that match, of ${count(page.total)} known` : ""}` : "");
      fill(nothing, page.hosts.length ? null : page.total
        ? asked.failure
          ? empty(`No host fails with ${words(asked.failure)} now`, "Hosts leave this list when they answer well again. ", link(`#/log?outcome=${encodeURIComponent(asked.failure)}`, "See the visits that ended so"), ".")
          : empty("No host matches", "Search for a part of the name, or show all states.")
        : empty("No hosts yet", "A host appears when its first URL is queued. ", link("#/seeds", "Submit a seed"), " to begin."));
    },
  );
}

/**
 * Why a host was given up, or how it failed last; empty: it answers well.
 * @param {HostRow} host
 */
function failureOf(host) {
  return host.given_up ?? host.last_failure?.outcome ?? "";
}

/**
 * @param {string | null} given
 * @returns {Order}
 */
function sortOf(given) {
  return SORTS.find(([key]) => key === given)?.[0] ?? "queued";
}

/**
 * An order as the API takes it.
 * @param {Order} order
 * @returns {{ sort: HostSort, reverse: boolean }}
 */
function direction(order) {
  return { sort: /** @type {HostSort} */ (order.replace("-", "")), reverse: order.startsWith("-") };
}

/**
 * @param {string | null} given
 * @returns {HostStanding | ""}
 */
function standingOf(given) {
  return STATES.find(([key]) => key === given)?.[0] ?? "";
}
