// Outcomes: what each means, and which belong together. The control API tells them.

/**
 * @import { OutcomeView } from "api"
 * @typedef {OutcomeView["group"]} Group
 */

/** @type {{ key: Group, label: string, colour: number }[]} */
export const GROUPS = [
  { key: "done", label: "done", colour: 1 },
  { key: "refused", label: "gone or refused", colour: 3 },
  { key: "failed", label: "failed", colour: 6 },
];

/** @type {Record<string, number>} */
const TINTS = {
  fetched: 1, redirected: 2, not_modified: 4, duplicate: 5, gone: 3, refused: 8, robots_refused: 7,
  server_failed: 6, throttled: 8, timed_out: 6, out_of_scope: 7,
};

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

  /** @param {string} name */
  colour(name) {
    return GROUPS.find(({ key }) => key === this.group(name))?.colour ?? 9;
  }
}

/**
 * A colour of its own for an outcome, the same one as long as it is free.
 * @param {string} name
 * @param {Set<number>} taken
 */
export function tint(name, taken) {
  const order = [TINTS[name] ?? 1, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const colour = order.find((one) => !taken.has(one)) ?? 9;
  taken.add(colour);
  return colour;
}
