// URL: `why` as a page. What is known of a URL, whose turn it is, and which rule decides.

import { keepAsking } from "../asking.js";
import { button, empty, facts, field, fill, h, link, plain, prose, web, webUrl } from "../dom.js";
import { linksFact, parametersFact, patternFact } from "../evidence.js";
import { bytes, count, counted, relative, words } from "../format.js";
import { robots } from "../hosting.js";
import { doing } from "../notices.js";
import { Visits } from "../visits.js";
import { account as hostAccount } from "./host.js";

/**
 * @import { LastVisit, QueuePlace, StoredPage, UrlAccount } from "api"
 * @import { Child } from "../dom.js"
 * @import { Outcomes } from "../outcomes.js"
 * @import { Context } from "../shell.js"
 * @import { Live } from "../live.js"
 */

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal, query, outcomes } = context;
  const asked = query.get("u") ?? "";
  const input = h("input", { type: "text", inputmode: "url", required: true, maxlength: 8192, value: asked, autocapitalize: "none", autocomplete: "off", spellcheck: "false", placeholder: "https://example.org/page" });
  const place = h("div", {});
  /** @type {(() => unknown) | null} */
  let again = null;
  root.append(
    h("h1", {}, "URL"),
    h(
      "form",
      {
        class: "ask",
        onsubmit: (event) => {
          event.preventDefault();
          const wanted = `#/url?${new URLSearchParams({ u: input.value.trim() })}`;
          if (wanted === location.hash) again?.();
          else location.hash = wanted;
        },
      },
      field("Why was this URL visited, or why not?", input),
      h("button", { class: "main" }, "Ask"),
    ),
    place,
  );
  if (!asked) {
    place.append(empty("Ask about any URL", "It is put into its canonical form, then you see whether it is known, whose turn it is, which rule of scope or robots decides, and what came of its visits."));
    return;
  }
  const about = h("div", {});
  const host = h("div", {});
  const more = h("div", {});
  place.append(about, more, host);
  let url = "";
  again = keepAsking(context, about, 5, () => api.get("/urls", { query: { url: asked }, signal }), (account) => {
    fill(about, describe(account, live, outcomes));
    fill(host, account.host_state && [h("h2", {}, "Its host"), hostAccount(account.host_state, live)]);
    if (account.url === null || account.url === url) return;
    ({ url } = account);
    fill(more, history(context, url), stored(context, url, Number.isInteger(account.last_visit?.warc_file)));
  });
}

/**
 * @param {UrlAccount} account
 * @param {Live} live
 * @param {Outcomes} outcomes
 */
function describe(account, live, outcomes) {
  const now = live.now();
  const { url, host } = account;
  if (url === null || host === null) {
    return h("section", { class: "card" }, h("p", { class: "verdict" }, "This is no URL to visit: ", web(account.refused ?? "it cannot be read")), facts([["Given", webUrl(account.given)]]));
  }
  const parts = [
    h(
      "section",
      { class: "card" },
      h("p", { class: "verdict" }, ...verdict(account, live)),
      facts([
        ["Canonical form", webUrl(url)],
        ["Given", account.given === url ? null : webUrl(account.given)],
        ["Host", link(`#/hosts/${encodeURIComponent(host)}`, web(host))],
        ["Registered domain", account.registered_domain && web(account.registered_domain)],
        ["Owner", [account.node === null ? "nobody at the moment" : web(account.node), `, partition ${count(account.partition)}`]],
        ["Seen", account.seen === null ? "cannot be told" : account.seen ? "yes" : "no: no page, sitemap or seed led to it yet"],
        ["Scope", account.out_of_scope === null ? "in" : ["out: ", web(account.out_of_scope)]],
        ["Rules", account.rules.length > 0 ? ruleDecisions(account) : null],
        ["Alias", account.alias && ["its host is ", web(account.alias.of), " under another name, which is visited"]],
        ["Robots", robotsVerdict(account, now)],
        ["Queue", queuePlace(account.queued, now)],
        ["URLs like it", patternFact(account)],
        ["Parameters", parametersFact(account)],
        ["Soft 404", account.soft_404 && ["its host ", web(account.soft_404)]],
        ["Last visit", account.last_visit && lastVisit(account.last_visit, now, outcomes)],
        ["Links", linksFact(account)],
        ["Stored", account.last_visit && account.last_visit.warc_file !== null ? `in ${account.last_visit.warc_name ?? `WARC file ${account.last_visit.warc_file}`} at byte ${count(account.last_visit.warc_offset)}, ${bytes(account.last_visit.warc_length)}` : null],
        ["Fingerprint", account.fingerprint && h("code", {}, account.fingerprint)],
      ]),
    ),
  ];
  return h("div", {}, parts);
}

/**
 * Which rule decides what.
 * @param {UrlAccount} account
 * @returns {Child[]}
 */
function ruleDecisions(account) {
  const rows = account.rules.map((one) => {
    const open = one.depends_on.length > 0 ? `, depending on ${one.depends_on.join(" and ")}` : "";
    return h("div", {}, "rule ", web(one.rule), `: ${one.effect} `, web(one.value), open);
  });
  return account.rules_version === null ? rows : [...rows, h("div", { class: "sub" }, `since version ${account.rules_version} of the settings`)];
}

/**
 * The gist in a sentence.
 * @param {UrlAccount} account
 * @param {Live} live
 * @returns {Child[]}
 */
function verdict(account, live) {
  const now = live.now();
  const { queued, last_visit: last, host_state: host } = account;
  if (account.out_of_scope !== null && !last) return ["It is not visited: out of scope (", web(account.out_of_scope), ")."];
  if (account.alias) return ["It is not visited: its host is ", web(account.alias.of), " under another name."];
  if (account.robots && !account.robots.allowed) return ["It is not visited: the site's robots rules forbid it."];
  if (queued) {
    if (host?.blocked) return ["It waits: its host is blocked."];
    if (live.rests !== null) return [`It is queued, and not visited while ${live.rests}.`];
    if (queued.unknown !== null) return ["It is queued: ", web(queued.unknown), "."];
    if (queued.not_before !== null && queued.not_before > now) return [`It is queued, for a visit ${relative(queued.not_before, now)} at the earliest.`];
    return [queued.ahead ? `It is queued: ${counted(queued.ahead, "URL")} of its host ${queued.ahead === 1 ? "is" : "are"} before it.` : "It is queued, and the next of its host."];
  }
  if (account.pattern?.set_aside) return ["It is set aside: visits to URLs like it brought nothing new."];
  if (last) return [`It was visited ${relative(last.time, now)}: ${words(last.outcome ?? "no outcome")}${last.status === null ? "" : ` (${last.status})`}.`];
  if (account.seen) return ["It is known, and not in the queue."];
  return ["It is not known: no page, sitemap or seed led to it yet."];
}

/**
 * @param {UrlAccount} account
 * @param {number} now
 * @returns {Child | Child[]}
 */
function robotsVerdict(account, now) {
  const { robots: found, host_state: host } = account;
  if (found === null) {
    const view = host?.[account.url?.startsWith("https:") ? "robots_https" : "robots_http"];
    return view ? robots(view, now) : "not asked yet";
  }
  const word = found.allowed ? "allowed" : "forbidden";
  if (found.rule === null) return `${word}: no rule matches`;
  return [`${word} by line ${found.rule.line}: `, web(`${found.rule.allow ? "Allow" : "Disallow"}: ${found.rule.pattern}`, "mono")];
}

/**
 * @param {QueuePlace | null} queued
 * @param {number} now
 */
function queuePlace(queued, now) {
  if (queued === null) return "not queued";
  if (queued.unknown !== null) return web(queued.unknown);
  const later = queued.not_before === null || queued.not_before <= now ? "" : `, ${relative(queued.not_before, now)} at the earliest`;
  return `${counted(queued.ahead ?? 0, "URL")} of its host before it, priority band ${queued.band}, depth ${queued.depth}, ${counted(queued.tries ?? 0, "try", "tries")} so far${later}`;
}

/**
 * @param {LastVisit} last
 * @param {number} now
 * @param {Outcomes} outcomes
 */
function lastVisit(last, now, outcomes) {
  const meaning = last.outcome === null ? null : outcomes.meaning(last.outcome);
  return prose(`${words(last.outcome ?? "unknown")}${last.status === null ? "" : ` (${last.status})`}${meaning ? `: ${meaning}` : ""}, ${relative(last.time, now)}, at depth ${last.depth}`);
}

/**
 * Every visit to the URL, from the fetch log.
 * @param {Context} context
 * @param {string} url
 */
function history(context, url) {
  const visits = new Visits(context, { url }, {
    caption: "Visits", limit: 20, host: false, url: false,
    none: () => empty("Not visited yet", "Its visits are listed here when they have ended."),
  });
  visits.begin();
  return h("div", {}, h("h2", {}, "Visits"), visits.element);
}

/**
 * The stored page as text, when it is asked for. It is only ever text: nothing of it is drawn.
 * @param {Context} context
 * @param {string} url
 * @param {boolean} there
 */
function stored({ api, signal }, url, there) {
  if (!there) return null;
  const place = h("div", {});
  /** @type {HTMLButtonElement} */
  const go = button("Show what is stored", () => doing(go, async () => {
    fill(place, page(await api.get("/stored", { query: { url }, signal })));
  }));
  return h("section", { class: "card" }, h("h2", {}, "Stored page"), go, place);
}

/** @param {StoredPage} found */
function page(found) {
  /** @param {string} text */
  const pre = (text) => h("pre", { class: "stored", tabindex: "0" }, text.split("\n").map((line) => `${plain(line.replaceAll("\t", "  "))}\n`));
  return h(
    "div",
    { class: "below" },
    facts([["File", web(found.file)], ["Byte", count(found.offset)], ["Type", web(found.media_type || "none said")], ["Note", found.note ? web(found.note) : null]]),
    h("details", {}, h("summary", {}, "Response head"), pre(found.head)),
    found.text ? pre(found.text) : null,
    found.cut && h("p", { class: "hint" }, "Only its beginning is shown; the whole of it is in the WARC file."),
  );
}
