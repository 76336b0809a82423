// Outcomes: what each means, and which belong together.

export const MEANINGS = {
  fetched: "a page, read to its end",
  not_modified: "not changed since the last visit",
  redirected: "leads elsewhere; the target is queued",
  gone: "404 or 410",
  refused: "another 4xx",
  server_failed: "the server failed (5xx)",
  throttled: "429 or 503: the host rests",
  robots_refused: "forbidden by the site's robots rules",
  robots_unreachable: "the robots rules could not be had in the time allowed",
  out_of_scope: "outside the scope, or refused by a filter",
  over_quota: "a limit of depth, pages, bytes or time",
  url_refused: "no URL that could be fetched",
  forbidden_address: "resolves to an address that is not visited",
  dns_not_found: "the name has no address",
  dns_failed: "the name server failed",
  connect_failed: "no connection",
  tls_failed: "the TLS handshake or certificate failed",
  timed_out: "a time limit was reached",
  disconnected: "the connection ended before the response",
  protocol_broken: "not HTTP that can be understood",
  encoding_broken: "the compression is broken or hostile",
  too_large: "declared larger than the limit",
  truncated: "ended early or reached the limit; kept, marked",
  unwanted_type: "a type that the crawl does not want",
  duplicate: "the content is stored under another URL",
  trap_suspected: "one of an endless family of URLs",
  deferred: "given back before it began",
};

const DONE = new Set(["fetched", "not_modified", "redirected", "duplicate", "truncated"]);
const FAILED = new Set([
  "server_failed", "throttled", "dns_not_found", "dns_failed", "connect_failed", "tls_failed", "timed_out",
  "disconnected", "protocol_broken", "encoding_broken", "robots_unreachable",
]);

export const GROUPS = [
  { key: "done", label: "done", colour: 1 },
  { key: "refused", label: "gone or refused", colour: 3 },
  { key: "failed", label: "failed", colour: 6 },
];

export function group(name) {
  if (DONE.has(name)) return "done";
  return FAILED.has(name) ? "failed" : "refused";
}

const TINTS = {
  fetched: 1, redirected: 2, not_modified: 4, duplicate: 5, gone: 3, refused: 8, robots_refused: 7,
  server_failed: 6, throttled: 8, timed_out: 6, out_of_scope: 7,
};

/** A colour of its own for an outcome, the same one as long as it is free. */
export function tint(name, taken) {
  const order = [TINTS[name] ?? 1, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const colour = order.find((one) => !taken.has(one)) ?? 9;
  taken.add(colour);
  return colour;
}
