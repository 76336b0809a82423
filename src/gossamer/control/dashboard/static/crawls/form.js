// The form that starts a crawl. What is refused is told beside it, in the crawler's own words.

import { field, h, select } from "../dom.js";
import { asError, tell } from "../notices.js";
import { ending } from "./list.js";

/**
 * @import { NewCrawl } from "api"
 * @import { Api } from "../api.js"
 */

/** @type {readonly (readonly [string, string])[]} */
const SCOPES = [
  ["", "Same host as a seed"],
  ["domain", "Same domain, with its subdomains"],
  ["prefix", "Below a seed's folder"],
  ["any", "Anywhere"],
];

/**
 * @param {Api} api
 * @param {() => unknown} again looks at the list anew
 */
export function startForm(api, again) {
  const asText = { type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false" };
  const name = h("input", { ...asText, required: true, maxlength: 100, placeholder: "news" });
  const seeds = h("textarea", { rows: 3, spellcheck: "false", autocapitalize: "none", required: true, placeholder: "https://example.org/" });
  const scope = select(SCOPES, "");
  const pages = h("input", { type: "number", min: 1, step: 1, inputmode: "numeric", placeholder: "no limit" });
  const depth = h("input", { type: "number", min: 0, step: 1, inputmode: "numeric", placeholder: "no limit" });
  const delay = h("input", { ...asText, placeholder: "1s", class: "short" });
  const contact = h("input", { ...asText, placeholder: "you@example.org" });
  const near = h("input", { type: "checkbox" });
  const settings = h("textarea", { rows: 3, spellcheck: "false", autocapitalize: "none", placeholder: "fetch.max_body=16MiB" });
  const problem = h("p", { class: "problem lines-kept", role: "alert" });
  const go = h("button", { class: "main" }, "Start");

  /** @returns {NewCrawl} */
  const asked = () => ({
    name: name.value.trim(),
    seeds: seeds.value,
    scope: /** @type {NewCrawl["scope"]} */ (scope.value || null),
    max_pages: pages.value ? Number(pages.value) : null,
    max_depth: depth.value ? Number(depth.value) : null,
    delay: delay.value.trim() || null,
    allow_private: near.checked,
    contact: contact.value.trim() || null,
    settings: settings.value,
  });

  const start = async () => {
    if (go.getAttribute("aria-busy") === "true") return;
    go.setAttribute("aria-busy", "true");
    go.textContent = "Starting…";
    problem.textContent = "";
    try {
      const { crawl } = await api.post("/crawls", { body: asked() });
      tell(ending(crawl));
      // The next one is often alike, but for these.
      name.value = "";
      seeds.value = "";
      again();
    } catch (error) {
      problem.textContent = asError(error).message;
    } finally {
      go.removeAttribute("aria-busy");
      go.textContent = "Start";
    }
  };

  return h(
    "form",
    {
      class: "card start",
      onsubmit: (event) => {
        event.preventDefault();
        start();
      },
    },
    h("h2", {}, "Start a crawl"),
    field("Name", name, "Its folder is called so."),
    field("Seeds", seeds, "Where it begins: an address on each line."),
    field("Follow links to", scope),
    h("div", { class: "pair" }, field("Most pages", pages, "It stops there, and can go on."), field("Depth", depth, "Links away from a seed, at most.")),
    h("div", { class: "pair" }, field("Delay", delay, "Between visits to a host."), field("Contact", contact, "Told to every site: who asks.")),
    h(
      "details",
      {},
      h("summary", {}, "Further settings"),
      h("div", { class: "check" }, field("Private addresses too", near, "This machine and its network.")),
      field("Any other, one on each line", settings, "As stage.name=value; gossamer settings lists all of them."),
    ),
    problem,
    h("div", { class: "buttons" }, go),
  );
}
