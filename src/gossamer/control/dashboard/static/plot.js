// Plots by hand, as SVG: lines, stacked areas and stacked bars over time, with axes and units.
//
// Takes times (seconds) and a list of values per series; `null` is a gap. The plot says its gist in
// words for those who cannot see it, and its figures under the pointer for those who can.

import { fill, h, s, say } from "./dom.js";
import { clock } from "./format.js";

const HEIGHT = 168;
const LEFT = 52;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 22;

export class Plot {
  #kind;
  #format;
  #axis;
  #svg = s("svg", { class: "plot", role: "img", preserveAspectRatio: "none" });
  #gist;
  #legend = h("ul", { class: "legend" });
  #readout = h("p", { class: "readout" });
  #data = null;
  #at = null;
  #width = 0;
  #observer;

  /** `kind`: line, stack or bars. `format` writes a value with its unit, `axis` a tick. */
  constructor({ title, kind = "line", format, axis, unit }) {
    this.#kind = kind;
    this.#format = format;
    this.#axis = axis;
    this.title = title;
    this.#gist = h("span", { class: "plot-now" });
    this.element = h(
      "figure",
      { class: "card plot-card" },
      h(
        "figcaption",
        {},
        h("h3", {}, title, " ", h("span", { class: "unit" }, unit)),
        this.#gist,
      ),
      this.#svg,
      h("div", { class: "plot-foot" }, this.#legend, this.#readout),
    );
    this.#svg.addEventListener("pointermove", (event) => this.#point(event));
    this.#svg.addEventListener("pointerdown", (event) => this.#point(event));
    this.#svg.addEventListener("pointerleave", () => this.#point(null));
    this.#observer = new ResizeObserver((entries) => {
      const width = Math.round(entries[0].contentRect.width);
      if (width && width !== this.#width) {
        this.#width = width;
        this.#draw();
      }
    });
    this.#observer.observe(this.#svg);
  }

  close() {
    this.#observer.disconnect();
  }

  /** `series`: [{ label, colour (1…9), values }]; `span`: [from, to] of the time axis. */
  show({ times, series, span, now, least = 0 }) {
    this.#data = { times, series, span, least };
    say(this.#gist, now ?? "");
    this.#draw();
  }

  #draw() {
    if (!this.#data || !this.#width) return;
    const { times, series, span, least } = this.#data;
    const stacked = this.#kind !== "line";
    const tops = stacked ? stack(series, times.length) : series.map((one) => one.values);
    let highest = least;
    for (const values of tops) for (const value of values) if (value > highest) highest = value;
    const ticks = niceTicks(highest || 1);
    const top = ticks.at(-1);
    const wide = Math.max(60, this.#width - LEFT - RIGHT);
    const x = (time) => LEFT + ((time - span[0]) / (span[1] - span[0])) * wide;
    const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
    this.#svg.setAttribute("viewBox", `0 0 ${this.#width} ${HEIGHT}`);
    const drawn = [...this.#axes(ticks, span, x, y)];
    if (this.#kind === "bars") drawn.push(...this.#bars(times, series, tops, x, y));
    else if (stacked) drawn.push(...this.#areas(times, series, tops, x, y));
    else drawn.push(...this.#lines(times, series, x, y));
    if (!times.length) {
      drawn.push(
        s("text", { x: LEFT + wide / 2, y: HEIGHT / 2, class: "tick", "text-anchor": "middle" }, "no readings yet"),
      );
    }
    if (this.#at !== null && times.length) drawn.push(...this.#mark(times, series, tops, x, y));
    fill(this.#svg, ...drawn);
    this.#say();
  }

  *#axes(ticks, span, x, y) {
    for (const tick of ticks) {
      yield s("line", { x1: LEFT, x2: this.#width - RIGHT, y1: y(tick), y2: y(tick), class: tick ? "grid" : "base" });
      yield s("text", { x: LEFT - 6, y: y(tick) + 4, class: "tick", "text-anchor": "end" }, this.#axis(tick));
    }
    const [step, seconds] = timeStep(span[1] - span[0], this.#width);
    // Ticks at full minutes and hours of the local clock.
    const zone = new Date(span[1] * 1000).getTimezoneOffset() * 60;
    for (let at = Math.ceil((span[0] - zone) / step) * step + zone; at <= span[1]; at += step) {
      yield s("line", { x1: x(at), x2: x(at), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4, class: "base" });
      const anchor = x(at) > this.#width - 30 ? "end" : "middle";
      yield s("text", { x: x(at), y: HEIGHT - 5, class: "tick", "text-anchor": anchor }, clock(at, seconds));
    }
  }

  *#lines(times, series, x, y) {
    for (const one of series) {
      const path = pieces(times, one.values).map((piece) =>
        piece.map(([time, value], at) => `${at ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join(""),
      );
      if (series.length === 1) {
        const ground = y(0).toFixed(1);
        const area = pieces(times, one.values).map((piece, at) =>
          `${path[at]}L${x(piece.at(-1)[0]).toFixed(1)} ${ground}L${x(piece[0][0]).toFixed(1)} ${ground}Z`,
        );
        yield s("path", { d: area.join(""), class: `wash c${one.colour}` });
      }
      yield s("path", { d: path.join(""), class: `line c${one.colour}` });
    }
  }

  *#areas(times, series, tops, x, y) {
    for (let at = series.length - 1; at >= 0; at -= 1) {
      const under = at ? tops[at - 1] : null;
      const path = pieces(times, tops[at]).map((piece) => {
        const begin = times.indexOf(piece[0][0]);
        const up = piece.map(([time, value]) => `${x(time).toFixed(1)} ${y(value).toFixed(1)}`);
        const down = piece
          .map(([time], index) => `${x(time).toFixed(1)} ${y(under ? under[begin + index] : 0).toFixed(1)}`)
          .reverse();
        return `M${[...up, ...down].join("L")}Z`;
      });
      yield s("path", { d: path.join(""), class: `area c${series[at].colour}` });
    }
  }

  *#bars(times, series, tops, x, y) {
    if (times.length < 2) return;
    const wide = Math.max(1, x(times[1]) - x(times[0]) - 2);
    for (let at = series.length - 1; at >= 0; at -= 1) {
      const path = times.map((time, index) => {
        const low = at ? tops[at - 1][index] : 0;
        const high = tops[at][index];
        if (high === null || high <= low) return "";
        const left = Math.max(LEFT, x(time) - wide - 1);
        return `M${left.toFixed(1)} ${y(high).toFixed(1)}h${wide.toFixed(1)}V${y(low).toFixed(1)}h-${wide.toFixed(1)}Z`;
      });
      yield s("path", { d: path.join(""), class: `area c${series[at].colour}` });
    }
  }

  *#mark(times, series, tops, x, y) {
    const at = nearest(times, this.#at);
    const place = x(times[at]);
    yield s("line", { x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM, class: "mark" });
    if (this.#kind !== "line") return;
    for (const [index, one] of series.entries()) {
      const value = tops[index][at];
      if (value !== null) yield s("circle", { cx: place, cy: y(value), r: 3.5, class: `dot c${one.colour}` });
    }
  }

  #point(event) {
    if (!event || !this.#data?.times.length) {
      this.#at = null;
    } else {
      const box = this.#svg.getBoundingClientRect();
      const [from, to] = this.#data.span;
      this.#at = from + ((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)) * (to - from);
    }
    this.#draw();
  }

  #say() {
    const { times, series } = this.#data;
    const at = this.#at === null ? times.length - 1 : nearest(times, this.#at);
    const text = (value) => (value === null || value === undefined ? "–" : this.#format(value));
    const single = series.length === 1;
    const all = single ? series[0].values.filter((value) => value !== null) : [];
    let legend = series.map((one) => [one.label, text(one.values[at]), one.colour]);
    if (single && this.#at === null && all.length) {
      const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
      legend = [["average", text(mean)], ["highest", text(Math.max(...all))]];
    }
    const key = JSON.stringify(legend);
    if (this.#legend.dataset.key !== key) {
      this.#legend.dataset.key = key;
      fill(this.#legend, legend.map(([label, text, colour]) => h("li", {}, !single && h("span", { class: `swatch c${colour}` }), `${label} `, h("b", {}, text))));
    }
    say(this.#readout, this.#at === null ? "" : clock(times[at]));
    const gist = legend.map(([label, text]) => `${label} ${text}`).join(", ");
    this.#svg.setAttribute("aria-label", `${this.title} over time. ${single ? "" : "Last: "}${gist || "no readings"}`);
  }
}

function stack(series, length) {
  const tops = [];
  let under = new Array(length).fill(0);
  for (const one of series) {
    under = under.map((low, at) => (one.values[at] === null || low === null ? null : low + one.values[at]));
    tops.push(under);
  }
  return tops;
}

/** Runs of values without a gap, as pairs of time and value. */
function pieces(times, values) {
  const found = [];
  let piece = [];
  times.forEach((time, at) => {
    if (values[at] === null || values[at] === undefined) {
      if (piece.length) found.push(piece);
      piece = [];
    } else {
      piece.push([time, values[at]]);
    }
  });
  if (piece.length) found.push(piece);
  return found;
}

function nearest(times, wanted) {
  let best = 0;
  times.forEach((time, at) => {
    if (Math.abs(time - wanted) < Math.abs(times[best] - wanted)) best = at;
  });
  return best;
}

/** 0, and three to five round steps up to at least `highest`. */
export function niceTicks(highest) {
  const rough = highest / 4;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * size).find((one) => one >= rough * 0.999);
  const ticks = [0];
  while (ticks.at(-1) < highest * 0.999) ticks.push(Number((ticks.at(-1) + step).toPrecision(10)));
  return ticks;
}

function timeStep(seconds, width) {
  const room = Math.max(2, Math.floor(width / 90));
  const steps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];
  const step = steps.find((one) => seconds / one <= room) ?? 14400;
  return [step, step < 60];
}
