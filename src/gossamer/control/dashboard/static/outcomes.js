// Outcomes: what each means, and which belong together. The control API tells them.

import { words } from "./format.js";

/**
 * @import { OutcomeView } from "api"
 * @import { Counters } from "./past.js"
 * @import { Series } from "./series.js"
 * @typedef {OutcomeView["group"]} Group
 */

/** @type {{ key: Group, label: string, colour: number }[]} */
export const GROUPS = [
  { key: "done", label: "done", colour: 1 },
  { key: "refused", label: "gone or refused", colour: 3 },
  { key: "failed", label: "failed", colour: 6 },
];

/**
 * Colours of single outcomes. Red, orange and pink are kept for what failed, whatever its name is.
 * @type {Record<Group, number[]>}
 */
const TINTS = { done: [1, 2, 4, 5], refused: [3, 5, 4, 2], failed: [6, 8, 7, 10] };

/** How many outcomes a plot names beside those that failed. */
const NAMED = 4;
/** How many that failed. */
const NAMED_FAILED = 3;

export class Outcomes {
  /** @type {Map<string, OutcomeView>} */
  #known;

  /** @param {OutcomeView[]} all */
  constructor(all) {
    this.#known = new Map(all.map((one) => [one.name, one]));
  }

  /**
   * `null`: not known, from a node of another version, perhaps.
   * @param {string} name
   */
  meaning(name) {
    return this.#known.get(name)?.meaning ?? null;
  }

  /**
   * @param {string} name
   * @returns {Group}
   */
  group(name) {
    return this.#known.get(name)?.group ?? "refused";
  }

  /**
   * The outcomes of a group for a choice, and `also`, whatever it is.
   * @param {Group} group
   * @param {string} also
   * @returns {[string, string][]}
   */
  names(group, also) {
    const all = [...this.#known.values()].filter((one) => one.group === group || one.name === also);
    const names = all.map(({ name }) => name);
    if (also && !names.includes(also)) names.push(also);
    return names.map((name) => [name, words(name)]);
  }

  /**
   * All outcomes for a choice, and `also`, whatever it is.
   * @param {string} also
   * @returns {[string, string][]}
   */
  all(also) {
    const names = [...this.#known.keys()];
    if (also && !names.includes(also)) names.push(also);
    return names.map((name) => [name, words(name)]);
  }

  /** @param {string} name */
  colour(name) {
    return GROUPS.find(({ key }) => key === this.group(name))?.colour ?? 9;
  }
}

/**
 * A colour of its own for an outcome of a group, one of the group's as long as there is one.
 * @param {Group} group
 * @param {Set<number>} taken
 */
function tint(group, taken) {
  const order = [...TINTS[group], 1, 2, 3, 4, 5, 6, 7, 8];
  const colour = order.find((one) => !taken.has(one)) ?? 9;
  taken.add(colour);
  return colour;
}

/**
 * @param {Counters} grown
 * @param {(name: string) => boolean} wanted
 */
export function total(grown, wanted) {
  let sum = 0;
  for (const [name, rate] of Object.entries(grown)) if (wanted(name)) sum += rate;
  return sum;
}

/**
 * The most frequent outcomes by name. What failed is never among the "others": it has names and colours of its own.
 * @param {(Counters | null)[]} grown
 * @param {Outcomes} outcomes
 * @returns {Series[]}
 */
export function outcomeSeries(grown, outcomes) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const rates of grown) {
    for (const [name, rate] of Object.entries(rates ?? {})) sums.set(name, (sums.get(name) ?? 0) + rate);
  }
  const order = [...sums].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
  /** @param {string} name */
  const failed = (name) => outcomes.group(name) === "failed";
  const named = [...order.filter((name) => !failed(name)).slice(0, NAMED), ...order.filter(failed).slice(0, NAMED_FAILED)];
  const rest = order.filter((name) => !named.includes(name));
  /** @type {Set<number>} */
  const taken = new Set();
  /** @param {string[]} names */
  const values = (names) => grown.map((rates) => rates && total(rates, (name) => names.includes(name)));
  const series = named.map((name) => ({ label: words(name), colour: tint(outcomes.group(name), taken), values: values([name]) }));
  const failures = rest.filter(failed);
  const others = rest.filter((name) => !failed(name));
  if (failures.length) series.push({ label: "other failures", colour: tint("failed", taken), values: values(failures) });
  if (others.length) series.push({ label: "others", colour: 9, values: values(others) });
  return series;
}
