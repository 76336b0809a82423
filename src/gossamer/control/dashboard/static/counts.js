// What the numbers by outcome count: lines of the fetch log, visits to pages and others. As `gossamer.counts` says it.

import { h } from "./dom.js";
import { count, counted } from "./format.js";

/** @import { Status } from "api" */

/** @type {["robots_files" | "sitemaps" | "probes", string][]} */
const BESIDE = [["robots_files", "robots file"], ["sitemaps", "sitemap"], ["probes", "probe"]];

/** @param {Record<string, number>} numbers */
const sum = (numbers) => Object.values(numbers).reduce((all, number) => all + number, 0);

/**
 * How many of an outcome's number are no visits to pages.
 * @param {Status} status
 * @param {string} outcome
 */
export function besidePages(status, outcome) {
  const parts = BESIDE.map(([field, noun]) => [status[field][outcome] ?? 0, noun])
    .filter(([number]) => number)
    .map(([number, noun]) => counted(Number(number), String(noun)));
  const unvisited = status.unvisited[outcome] ?? 0;
  if (unvisited > 0 && unvisited < (status.outcomes[outcome] ?? 0)) parts.push(`${count(unvisited)} not visited`);
  return parts.length > 0 && h("span", { class: "hint" }, ` (${parts.join(", ")})`);
}

/**
 * All visits by what they were to: how the numbers by outcome come to that of the pages.
 * @param {Status} status
 */
export function visitsInWords(status) {
  const unvisited = sum(status.unvisited);
  const visits = sum(status.outcomes) - unvisited;
  const others = BESIDE.map(([field, noun]) => ({ field, noun, number: sum(status[field]) })).filter(({ number }) => number);
  const pages = visits - others.reduce((all, { number }) => all + number, 0);
  const named = others.map(({ field, noun, number }) => (field === "probes" ? counted(number, noun) : `${count(number)} to ${noun}s`));
  const text = `${counted(visits, "visit")}: ${[`${count(pages)} to pages`, ...named].join(", ")}`;
  return unvisited ? `${text}; ${counted(unvisited, "URL")} left the queue without one` : text;
}
