// The past of the counters: what plots are made of. Loaded once for a range, then grown by every
// status, so that watching costs the crawl nothing more.

/**
 * @import { Api } from "./api.js"
 * @import { Status } from "api"
 * @typedef {{ [name: string]: number }} Counters
 * @typedef {{ time: number, columns: Counters, outcomes: Counters }} Reading
 * @typedef {(number | null)[]} Values a gap is `null`
 */

const POINTS = 120;
/** Readings that are held; with more of them, every other one goes. */
const MOST = 4320;
/** The counters of a status that are plotted. */
const COLUMNS = /** @type {const} */ (["pages", "bytes", "urls_queued", "hosts_active", "hosts_waiting", "hosts_set_aside"]);
/** @typedef {typeof COLUMNS[number]} Column */

export class Past {
  #seconds = 600;
  /** @type {[number, number] | null} a range that does not go on with the time */
  #fixed = null;
  #step = 1;
  /** How often something was asked for. */
  #asked = 0;
  /** @type {Reading[]} */
  #rows = [];
  /** @type {number | null} the first time that is known, shown or not */
  oldest = null;

  get seconds() {
    return this.#seconds;
  }

  get fixed() {
    return this.#fixed;
  }

  /**
   * `fixed`: only this part of the last `seconds`.
   * @param {Api} api
   * @param {number} seconds
   * @param {AbortSignal} signal
   * @param {[number, number] | null} fixed
   */
  async load(api, seconds, signal, fixed = null) {
    this.#asked += 1;
    const turn = this.#asked;
    const past = await api.get("/history", { query: { seconds }, signal });
    // Answers may overtake each other: what was asked for last is shown.
    if (turn !== this.#asked) return;
    this.#seconds = seconds;
    this.#fixed = fixed;
    this.#step = past.step;
    this.oldest = past.oldest;
    this.#rows = past.times.map((time, at) => ({
      time,
      columns: pick(past.columns, at),
      outcomes: pick(past.outcomes, at),
    }));
  }

  /** @param {Status} status */
  add(status) {
    const last = this.#rows.at(-1);
    if (last && status.time - last.time < this.#step * 0.9) return;
    const columns = Object.fromEntries(COLUMNS.map((name) => [name, status[name]]));
    this.#rows.push({ time: status.time, columns, outcomes: status.outcomes });
    if (this.#rows.length > MOST) {
      this.#rows = this.#rows.filter((_, at) => at % 2 === 0);
      this.#step *= 2;
    }
    if (this.#fixed) return;
    const first = this.#rows.findIndex((row) => status.time - row.time <= this.#seconds);
    this.#rows.splice(0, first);
  }

  /**
   * A range shorter than the past only as long as the crawl is young.
   * @param {number} now
   * @returns {[number, number]}
   */
  span(now) {
    if (this.#fixed) return this.#fixed;
    const first = this.#rows[0]?.time ?? now;
    return [now - Math.min(this.#seconds, Math.max(60, now - first)), now];
  }

  /**
   * Readings at equal steps: gauges as they were, rates as growth per second, and how outcomes grew.
   * @param {{ now: number, gauges?: Column[], rates?: Column[], points?: number }} wanted
   */
  sample({ gauges = [], rates = [], now, points = POINTS }) {
    const [from, to] = this.span(now);
    const step = Math.max(this.#step, Math.ceil((to - from) / points));
    /** @type {number[]} */
    const times = [];
    /** @type {Record<Column, Values>} */
    const found = { pages: [], bytes: [], urls_queued: [], hosts_active: [], hosts_waiting: [], hosts_set_aside: [] };
    /** @type {(Counters | null)[]} */
    const grown = [];
    let at = 0;
    // Steps are at multiples, so that a picture does not tremble as time goes on.
    for (let end = Math.ceil(from / step) * step; end <= to + this.#step; end += step) {
      at = this.#from(at, end - step);
      const before = this.#rows[at - 1] ?? this.#rows[at];
      const last = this.#from(at, end);
      const after = last > at ? this.#rows[last - 1] : undefined;
      times.push(end);
      const passed = after && before ? after.time - before.time : 0;
      const bridge = after && before && passed > 0 && passed <= 3 * step + 2 * this.#step ? { after, before } : null;
      for (const name of gauges) found[name].push(after?.columns[name] ?? null);
      for (const name of rates) found[name].push(bridge && Math.max(0, rise(bridge.before.columns, bridge.after.columns, name)) / passed);
      grown.push(bridge && growth(bridge.before.outcomes, bridge.after.outcomes, passed));
      at = last;
    }
    // The last step is not over: it would show a fall that is none.
    if (times.length > 2 && (times.at(-1) ?? 0) > to) {
      times.pop();
      for (const values of Object.values(found)) values.pop();
      grown.pop();
    }
    return { times, step, ...found, grown };
  }

  /**
   * The first reading at or after a time, looked for from `at` on.
   * @param {number} at
   * @param {number} time
   */
  #from(at, time) {
    let found = at;
    while ((this.#rows[found]?.time ?? Infinity) < time) found += 1;
    return found;
  }
}

/**
 * @param {{ [name: string]: number[] }} columns
 * @param {number} at
 * @returns {Counters}
 */
function pick(columns, at) {
  return Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[at] ?? 0]));
}

/**
 * @param {Counters} before
 * @param {Counters} after
 * @param {string} name
 */
function rise(before, after, name) {
  return (after[name] ?? 0) - (before[name] ?? 0);
}

/**
 * @param {Counters} before
 * @param {Counters} after
 * @param {number} seconds
 * @returns {Counters}
 */
function growth(before, after, seconds) {
  /** @type {[string, number][]} */
  const rates = Object.keys(after).map((name) => [name, rise(before, after, name) / seconds]);
  return Object.fromEntries(rates.filter(([, rate]) => rate > 0));
}
