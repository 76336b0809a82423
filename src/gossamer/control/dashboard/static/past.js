// The past of the counters: what plots are made of. Loaded once for a range, then grown by every
// status, so that watching costs the crawl nothing more.

const POINTS = 120;

export class Past {
  #seconds = 600;
  #step = 1;
  #rows = [];

  get seconds() {
    return this.#seconds;
  }

  async load(api, seconds, signal) {
    const past = await api.get("/history", { seconds }, signal);
    this.#seconds = seconds;
    this.#step = past.step;
    this.#rows = past.times.map((time, at) => ({
      time,
      columns: pick(past.columns, at),
      outcomes: pick(past.outcomes, at),
    }));
  }

  add(status) {
    const last = this.#rows.at(-1);
    if (last && status.time - last.time < this.#step * 0.9) return;
    this.#rows.push({ time: status.time, columns: status, outcomes: status.outcomes });
    while (this.#rows.length && status.time - this.#rows[0].time > this.#seconds) this.#rows.shift();
  }

  /** A range shorter than the past only as long as the crawl is young. */
  span(now) {
    const first = this.#rows[0]?.time ?? now;
    return [now - Math.min(this.#seconds, Math.max(60, now - first)), now];
  }

  /** Readings at equal steps: gauges as they were, `rates` as growth per second. */
  sample({ gauges = [], rates = [], now, points = POINTS, outcomes = false }) {
    const [from, to] = this.span(now);
    const step = Math.max(this.#step, Math.ceil((to - from) / points));
    const times = [];
    const found = Object.fromEntries([...gauges, ...rates].map((name) => [name, []]));
    const grown = [];
    let at = 0;
    // Steps are at multiples, so that a picture does not tremble as time goes on.
    for (let end = Math.ceil(from / step) * step; end <= to + this.#step; end += step) {
      while (at < this.#rows.length && this.#rows[at].time < end - step) at += 1;
      const before = this.#rows[at - 1] ?? this.#rows[at];
      let last = at;
      while (last < this.#rows.length && this.#rows[last].time < end) last += 1;
      const after = this.#rows[last - 1];
      times.push(end);
      const known = last > at && after;
      const passed = known ? after.time - before.time : 0;
      const bridged = passed > 0 && passed <= 3 * step + 2 * this.#step;
      for (const name of gauges) found[name].push(known ? after.columns[name] : null);
      for (const name of rates) {
        found[name].push(bridged ? Math.max(0, after.columns[name] - before.columns[name]) / passed : null);
      }
      if (outcomes) grown.push(bridged ? growth(before.outcomes, after.outcomes, passed) : null);
      at = last;
    }
    // The last step is not over: it would show a fall that is none.
    if (times.length > 2 && times.at(-1) > to) {
      times.pop();
      for (const values of Object.values(found)) values.pop();
      grown.pop();
    }
    return { times, step, ...found, grown };
  }
}

function pick(columns, at) {
  return Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[at]]));
}

function growth(before, after, seconds) {
  const names = Object.entries(after).map(([name, total]) => [name, (total - (before[name] ?? 0)) / seconds]);
  return Object.fromEntries(names.filter(([, rate]) => rate > 0));
}
