// Hosts: sorted, searched, a page at a time.

import { keepAsking } from "../asking.js";
import { button, empty, field, fill, h, link, say, select, web } from "../dom.js";
import { count, counted, span, words } from "../format.js";
import { STANDINGS, gapSource, nextShort, robotsShort, standing, steer } from "../hosting.js";
import { doing } from "../notices.js";
import { Table } from "../table.js";

/**
 * @import { HostRow, HostSort, HostStanding } from "api"
 * @import { Column } from "../table.js"
 * @import { Context } from "../shell.js"
 */

/** @type {[HostSort, string][]} */
const SORTS = [
  ["queued", "Most queued"], ["pages", "Most pages"], ["errors", "Most errors"],
  ["last_visit", "Last visited"], ["next_visit", "Next visit"], ["name", "Name"],
];
/** @type {[HostStanding | "", string][]} */
const STATES = [["", "All"], ...STANDINGS];
const LIMIT = 50;

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal, operates, query } = context;
  const asked = {
    sort: sortOf(query.get("sort")),
    search: query.get("search") ?? "",
    standing: standingOf(query.get("standing")),
  };
  // Cursors of the pages before, so that one can go back.
  /** @type {(string | null)[]} */
  let cursors = [null];
  const place = h("div", {});
  const nothing = h("div", {});
  const found = h("p", { class: "hint", role: "status" });
  /** @type {Column<HostRow>[]} */
  const columns = [
    { label: "Host", of: (host) => host.name, draw: ({ name }) => link(`#/hosts/${encodeURIComponent(name)}`, web(name, "cut")) },
    { label: "State", of: (host) => [host.standing, host.given_up], draw: (host) => [standing(host.standing), host.given_up && h("span", { class: "sub" }, words(host.given_up))] },
    { label: "Queued", number: true, of: (host) => count(host.queued) },
    { label: "Pages", number: true, of: (host) => [host.pages, host.quota], draw: ({ pages, quota }) => [count(pages), quota !== null && h("span", { class: "sub" }, `of ${count(quota)}`)] },
    { label: "Errors", number: true, of: (host) => [host.errors, host.failures_in_a_row], draw: ({ errors, failures_in_a_row: row }) => [count(errors), row > 0 && h("span", { class: "sub bad-text" }, `${count(row)} in a row`)] },
    { label: "Gap", number: true, of: (host) => [span(host.gap), host.gap_source], draw: ({ gap, gap_source: source }) => [span(gap), h("span", { class: "sub", title: gapSource(source) }, words(source))] },
    { label: "Robots", of: robotsShort },
    { label: "Next visit", number: true, of: (host) => nextShort(host, live.now()) },
  ];
  if (operates) columns.push({ label: "Commands", wide: true, of: (host) => [host.name, host.blocked], draw: (host) => quick(host) });
  const table = new Table({ caption: "Hosts", className: "cards", key: (host) => host.name, columns });
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
  const back = button("Previous", () => { cursors.pop(); turn(); });
  const on = button("Next", () => { cursors.push(next); turn(); });
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
    ),
    found,
    place,
    nothing,
    h("div", { class: "buttons pager" }, back, on),
  );
  place.append(table.element);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(begin, 300); });
  for (const one of [sort, stands]) one.addEventListener("change", begin);

  function begin() {
    clearTimeout(typing);
    const wanted = { sort: sortOf(sort.value), search: search.value.trim(), standing: standingOf(stands.value) };
    if (JSON.stringify(wanted) === JSON.stringify(asked)) return;
    Object.assign(asked, wanted);
    cursors = [null];
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
    () => api.get("/hosts", { query: { ...asked, standing: asked.standing || null, cursor: cursors.at(-1) ?? null, limit: LIMIT }, signal }),
    (page) => {
      const first = (cursors.length - 1) * LIMIT;
      ({ next } = page);
      back.disabled = cursors.length === 1;
      on.disabled = next === null;
      table.element.hidden = !page.hosts.length;
      table.show(page.hosts);
      const range = page.hosts.length ? `${count(first + 1)}–${count(first + page.hosts.length)} of ` : "";
      say(found, page.total ? `${range}${counted(page.matched, "host")}${page.matched < page.total ? ` that match, of ${count(page.total)} known` : ""}` : "");
      fill(nothing, page.hosts.length ? null : page.total
        ? empty("No host matches", "Search for a part of the name, or show all states.")
        : empty("No hosts yet", "A host appears when its first URL is queued. ", link("#/seeds", "Submit a seed"), " to begin."));
    },
  );
}

/**
 * @param {string | null} given
 * @returns {HostSort}
 */
function sortOf(given) {
  return SORTS.find(([key]) => key === given)?.[0] ?? "queued";
}

/**
 * @param {string | null} given
 * @returns {HostStanding | ""}
 */
function standingOf(given) {
  return STATES.find(([key]) => key === given)?.[0] ?? "";
}
