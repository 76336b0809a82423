// What visits told about URLs like one, as facts of its page.

import { h, web } from "./dom.js";
import { count, counted, words } from "./format.js";

/**
 * @import { LearntParameter, UrlAccount } from "api"
 * @import { Child } from "./dom.js"
 */

const STATES = new Map([
  ["learnt", "changes nothing, so links lose it"],
  ["undone", "changed something after all, so links keep it"],
  ["kept", "stays, by command"],
]);

/**
 * What a finding about a parameter means.
 * @param {string} name
 */
export function parameterState(name) {
  return STATES.get(name) ?? words(name);
}

/**
 * A parameter and where it was found.
 * @param {Pick<LearntParameter, "parameter" | "place">} row
 */
export function parameterName(row) {
  return `${row.place}?${row.parameter}`;
}

/**
 * What visits to URLs like this one brought.
 * @param {UrlAccount} account
 * @returns {Child[] | null}
 */
export function patternFact({ pattern: found }) {
  if (!found) return null;
  const rows = [h("div", {}, web(found.pattern, "mono"), found.visits ? [": ", web(found.evidence)] : null)];
  if (found.trusted) rows.push(h("div", {}, "taken up by command: not doubted any more"));
  if (found.doubted !== null) rows.push(h("div", {}, "doubted, so it comes last: ", web(found.doubted)));
  if (found.set_aside) rows.push(h("div", {}, `set aside, ${counted(found.urls_set_aside, "URL")} of its pattern in all; its host's page takes them up`));
  return rows;
}

/**
 * What was found about the parameters of the URL.
 * @param {UrlAccount} account
 * @returns {Child[] | null}
 */
export function parametersFact({ parameters }) {
  if (!parameters) return null;
  const rows = parameters.found.map((one) => h("div", {}, web(parameterName({ parameter: one.name, place: one.place }), "mono"), ` ${parameterState(one.state)}: `, web(one.evidence)));
  if (parameters.visited_as !== null) rows.push(h("div", {}, "without ", web(parameters.stripped ?? "them"), " it is ", web(parameters.visited_as)));
  return rows.length > 0 ? rows : null;
}

/**
 * What the page said to robots, and which of its links were not followed, at its last visit.
 * @param {UrlAccount} account
 */
export function linksFact({ visits }) {
  const last = visits.at(-1);
  if (!last) return null;
  const said = last.robots === null ? [] : [`says ${last.robots} to robots`];
  const left = Object.entries(last.left_out).map(([reason, number]) => `${count(number)} not followed: ${words(reason)}`);
  return [...said, ...left].join("; ") || null;
}
