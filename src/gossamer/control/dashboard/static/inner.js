// Sizes of the inner structures: what the nodes hold in memory, and how well the cache of names does.

import { empty, facts, fill } from "./dom.js";
import { bytes, count, percent, span } from "./format.js";

/** @import { InnerView } from "api" */

/**
 * `inner` null: nothing runs that would hold anything.
 * @param {HTMLElement} place
 * @param {InnerView | null} inner
 */
export function showInner(place, inner) {
  if (!inner) {
    fill(place, empty("Nothing runs", "Here are the sizes of what nodes hold in memory while they run."));
    return;
  }
  const disk = inner.seen_disk ? `, ${bytes(inner.seen_disk)} in files` : "";
  const mean = inner.dns_lookups ? `, a look-up took ${span(inner.dns_seconds / inner.dns_lookups)} on average` : "";
  const key = JSON.stringify(inner);
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  fill(place, facts([
    ["Seen test", `${bytes(inner.seen_ram)} in memory${disk}`],
    ["Queue heads", `${count(inner.heads)} URLs in memory, ${bytes(inner.head_bytes)}; the rest of the queue is on disk`],
    ["Hosts", `${count(inner.hosts_in_ram)} in memory`],
    ["Robots rules", `${count(inner.robots_rules)} files in memory, ${bytes(inner.robots_bytes)}`],
    ["DNS cache", inner.dns_asked ? `${count(inner.dns_names)} names, ${percent(inner.dns_hits, inner.dns_asked)} of ${count(inner.dns_asked)} questions answered by it${mean}` : "not asked yet: addresses need no look-up"],
  ]));
}
