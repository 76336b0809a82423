// Plots by hand, as SVG: lines, stacked areas and stacked bars over time, with axes and units.
//
// Takes times (seconds) and a list of values per series; `null` is a gap. The plot says its gist in
// words for those who cannot see it, and its figures under the pointer for those who can.

import { fill, h, s, say } from "./dom.js";
import { clock, date, day } from "./format.js";
import { areas, bars, lines, stack } from "./series.js";

/**
 * @import { Layer, Scale, Series } from "./series.js"
 * @typedef {[number, number]} Span from and to, of the time axis
 * @typedef {{ times: number[], series: Series[], span: Span, least: number }} Data
 * @typedef {"line" | "stack" | "bars"} Kind
 */

const HEIGHT = 168;
const LEFT = 52;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 22;
/** Seconds; what is longer needs dates. */
const DAY = 86_400;

export class Plot {
  /** @type {Kind} */
  #kind;
  /** @type {(value: number) => string} */
  #format;
  /** @type {(value: number) => string} */
  #axis;
  /** @type {1000 | 1024} */
  #base;
  #svg = s("svg", { class: "plot", role: "img", preserveAspectRatio: "none" });
  #gist;
  #legend = h("ul", { class: "legend" });
  #readout = h("p", { class: "readout" });
  /** @type {Data | null} */
  #data = null;
  /** @type {number | null} the time pointed at */
  #at = null;
  #width = 0;
  #observer;

  /**
   * `format` writes a value with its unit, `axis` a tick; `base` 1024: ticks are round in KiB, MiB …
   * @param {{ title: string, kind?: Kind, format: (value: number) => string, axis: (value: number) => string, unit: string, base?: 1000 | 1024 }} given
   */
  constructor({ title, kind = "line", format, axis, unit, base = 1000 }) {
    this.#base = base;
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
      const width = Math.round(entries[0]?.contentRect.width ?? 0);
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

  /**
   * `series`: [{ label, colour (1…9), values }]; `span`: [from, to] of the time axis.
   * @param {{ times: number[], series: Series[], span: Span, now?: string, least?: number }} given
   */
  show({ times, series, span, now, least = 0 }) {
    this.#data = { times, series, span, least };
    say(this.#gist, now ?? "");
    this.#draw();
  }

  #draw() {
    if (!this.#data || !this.#width) return;
    const { times, series, span, least } = this.#data;
    const stacked = this.#kind !== "line";
    const layers = stacked ? stack(series, times.length) : series.map(({ colour, values }) => ({ colour, low: [], high: values }));
    let highest = least;
    for (const { high } of layers) for (const value of high) if (value !== null && value > highest) highest = value;
    const ticks = niceTicks(highest || 1, this.#base);
    const top = ticks.at(-1) ?? 1;
    const wide = Math.max(60, this.#width - LEFT - RIGHT);
    /** @type {Scale} */
    const x = (time) => LEFT + ((time - span[0]) / (span[1] - span[0])) * wide;
    /** @type {Scale} */
    const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
    this.#svg.setAttribute("viewBox", `0 0 ${this.#width} ${HEIGHT}`);
    /** @type {SVGElement[]} */
    const drawn = [...this.#axes(ticks, span, x, y)];
    if (this.#kind === "bars") drawn.push(...bars(times, layers, x, y, LEFT));
    else if (stacked) drawn.push(...areas(times, layers, x, y));
    else drawn.push(...lines(times, layers, x, y));
    if (!times.length) {
      drawn.push(
        s("text", { x: LEFT + wide / 2, y: HEIGHT / 2, class: "tick", "text-anchor": "middle" }, "no readings yet"),
      );
    }
    if (this.#at !== null && times.length) drawn.push(...this.#mark(nearest(times, this.#at), times, layers, x, y));
    fill(this.#svg, ...drawn);
    this.#say(this.#data);
  }

  /**
   * @param {number[]} ticks
   * @param {Span} span
   * @param {Scale} x
   * @param {Scale} y
   */
  *#axes(ticks, span, x, y) {
    for (const tick of ticks) {
      yield s("line", { x1: LEFT, x2: this.#width - RIGHT, y1: y(tick), y2: y(tick), class: tick ? "grid" : "base" });
      yield s("text", { x: LEFT - 6, y: y(tick) + 4, class: "tick", "text-anchor": "end" }, this.#axis(tick));
    }
    const [step, seconds] = timeStep(span[1] - span[0], this.#width);
    const long = span[1] - span[0] > DAY;
    // Ticks at full minutes and hours of the local clock.
    const zone = new Date(span[1] * 1000).getTimezoneOffset() * 60;
    for (let at = Math.ceil((span[0] - zone) / step) * step + zone; at <= span[1]; at += step) {
      yield s("line", { x1: x(at), x2: x(at), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4, class: "base" });
      const anchor = x(at) > this.#width - 30 ? "end" : "middle";
      yield s("text", { x: x(at), y: HEIGHT - 5, class: "tick", "text-anchor": anchor }, long ? dayOrClock(at) : clock(at, seconds));
    }
  }

  /**
   * @param {number} at
   * @param {number[]} times
   * @param {Layer[]} layers
   * @param {Scale} x
   * @param {Scale} y
   */
  *#mark(at, times, layers, x, y) {
    const place = x(times[at] ?? 0);
    yield s("line", { x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM, class: "mark" });
    if (this.#kind !== "line") return;
    for (const { colour, high } of layers) {
      const value = high[at] ?? null;
      if (value !== null) yield s("circle", { cx: place, cy: y(value), r: 3.5, class: `dot c${colour}` });
    }
  }

  /** @param {PointerEvent | null} event */
  #point(event) {
    if (!event || !this.#data || !this.#data.times.length) {
      this.#at = null;
    } else {
      const box = this.#svg.getBoundingClientRect();
      const [from, to] = this.#data.span;
      this.#at = from + ((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)) * (to - from);
    }
    this.#draw();
  }

  /** @param {Data} data */
  #say({ times, series, span }) {
    const last = times.findLastIndex((_, index) => series.some(({ values }) => (values[index] ?? null) !== null));
    const at = this.#at === null ? last : nearest(times, this.#at);
    /** @param {number | null | undefined} value */
    const text = (value) => (value === null || value === undefined ? "–" : this.#format(value));
    const single = series.length === 1;
    const all = single ? series.flatMap((one) => one.values).filter((value) => value !== null) : [];
    /** @type {[string, string, number?][]} */
    let legend = times.length ? series.map((one) => [one.label, text(one.values[at]), one.colour]) : [];
    if (single && this.#at === null && all.length) {
      const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
      legend = [["average", text(mean)], ["highest", text(Math.max(...all))]];
    }
    const key = JSON.stringify(legend);
    if (this.#legend.dataset.key !== key) {
      this.#legend.dataset.key = key;
      fill(this.#legend, legend.map(([label, shown, colour]) => h("li", {}, !single && h("span", { class: `swatch c${colour}` }), `${label} `, h("b", {}, shown))));
    }
    const moment = span[1] - span[0] > DAY ? date : clock;
    say(this.#readout, this.#at === null ? "" : moment(times[at] ?? 0));
    const gist = legend.map(([label, shown]) => `${label} ${shown}`).join(", ");
    this.#svg.setAttribute("aria-label", `${this.title} over time. ${single ? "" : "Last: "}${gist || "no readings"}`);
  }
}

/**
 * @param {number[]} times
 * @param {number} wanted
 */
function nearest(times, wanted) {
  let best = 0;
  let least = Infinity;
  times.forEach((time, at) => {
    const away = Math.abs(time - wanted);
    if (away < least) [best, least] = [at, away];
  });
  return best;
}

/**
 * 0, and up to five round steps of whole numbers up to at least `highest`. In base 1024 they are round in its largest unit.
 * @param {number} highest
 * @param {1000 | 1024} base
 * @returns {number[]}
 */
export function niceTicks(highest, base = 1000) {
  if (base === 1024) {
    const unit = 1024 ** Math.max(0, Math.floor(Math.log2(highest) / 10));
    return niceTicks(highest / unit).map((tick) => tick * unit);
  }
  // Whole numbers only: half a URL is none, and what is rarer than one in a second shows as such.
  const rough = Math.max(1, highest / 4);
  const size = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5].find((one) => one * size >= rough * 0.999 && Number.isInteger(one * size)) ?? 10;
  const number = Math.max(1, Math.ceil((highest * 0.999) / (factor * size)));
  return Array.from({ length: number + 1 }, (_, at) => Number((at * factor * size).toPrecision(10)));
}

/**
 * The seconds between two ticks of the time axis, and whether their labels need seconds.
 * @param {number} seconds
 * @param {number} width
 * @returns {[number, boolean]}
 */
function timeStep(seconds, width) {
  const room = Math.max(2, Math.floor(width / 90));
  const steps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200];
  const step = steps.find((one) => seconds / one <= room) ?? DAY * Math.ceil(seconds / DAY / room);
  return [step, step < 60];
}

/**
 * Of a day's ticks the first says which day it is.
 * @param {number} time
 */
function dayOrClock(time) {
  const text = clock(time, false);
  return text === "00:00" ? day(time) : text;
}
