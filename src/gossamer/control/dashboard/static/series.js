// Series of readings as shapes of a plot: lines, stacked areas, stacked bars.

import { s } from "./dom.js";

/**
 * @import { Values } from "./past.js"
 * @typedef {{ label: string, colour: number, values: Values }} Series
 * @typedef {{ colour: number, low: Values, high: Values }} Layer from one edge to the other
 * @typedef {(at: number) => number} Scale
 */

/**
 * Each series on top of those before it.
 * @param {Series[]} series
 * @param {number} length
 */
export function stack(series, length) {
  /** @type {Values} */
  let low = Array.from({ length }, () => 0);
  return series.map(({ colour, values }) => {
    const high = low.map((under, at) => {
      const value = values[at] ?? null;
      return value === null || under === null ? null : under + value;
    });
    const layer = { colour, low, high };
    low = high;
    return layer;
  });
}

/**
 * A line for each series; a single one has its ground shaded.
 * @param {number[]} times
 * @param {Layer[]} layers
 * @param {Scale} x
 * @param {Scale} y
 */
export function* lines(times, layers, x, y) {
  for (const { colour, high } of layers) {
    const found = pieces(times, high).map((piece) => piece.map(([time, value]) => point(x(time), y(value))));
    if (layers.length === 1) {
      const area = pieces(times, high).map((piece, at) => {
        const ends = [piece.at(-1), piece[0]].map((one) => point(x(one?.[0] ?? 0), y(0)));
        return `M${[...(found[at] ?? []), ...ends].join("L")}Z`;
      });
      yield s("path", { d: area.join(""), class: `wash c${colour}` });
    }
    yield s("path", { d: found.map((points) => `M${points.join("L")}`).join(""), class: `line c${colour}` });
    // A reading between two gaps has no line.
    for (const piece of pieces(times, high)) {
      const [one, second] = piece;
      if (one && !second) yield s("circle", { cx: x(one[0]), cy: y(one[1]), r: 2.5, class: `dot c${colour}` });
    }
  }
}

/**
 * @param {number[]} times
 * @param {Layer[]} layers
 * @param {Scale} x
 * @param {Scale} y
 */
export function* areas(times, layers, x, y) {
  for (const { colour, low, high } of layers.toReversed()) {
    const path = pieces(times, high).map((piece) => {
      const begin = times.indexOf(piece[0]?.[0] ?? NaN);
      const up = piece.map(([time, value]) => point(x(time), y(value)));
      const down = piece.map(([time], index) => point(x(time), y(low[begin + index] ?? 0)));
      return `M${[...up, ...down.toReversed()].join("L")}Z`;
    });
    yield s("path", { d: path.join(""), class: `area c${colour}` });
  }
}

/**
 * @param {number[]} times
 * @param {Layer[]} layers
 * @param {Scale} x
 * @param {Scale} y
 * @param {number} left where the axis is
 */
export function* bars(times, layers, x, y, left) {
  const [first, second] = times;
  if (first === undefined || second === undefined) return;
  const wide = Math.max(1, x(second) - x(first) - 2);
  for (const { colour, low, high } of layers.toReversed()) {
    const path = times.map((time, index) => {
      const bottom = low[index] ?? 0;
      const top = high[index] ?? 0;
      if (top <= bottom) return "";
      return `M${point(Math.max(left, x(time) - wide - 1), y(top))}h${wide.toFixed(1)}V${y(bottom).toFixed(1)}h-${wide.toFixed(1)}Z`;
    });
    yield s("path", { d: path.join(""), class: `area c${colour}` });
  }
}

/**
 * @param {number} x
 * @param {number} y
 */
function point(x, y) {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

/**
 * Runs of values without a gap, as pairs of time and value.
 * @param {number[]} times
 * @param {Values} values
 */
function pieces(times, values) {
  /** @type {[number, number][][]} */
  const found = [];
  /** @type {[number, number][]} */
  let piece = [];
  times.forEach((time, at) => {
    const value = values[at] ?? null;
    if (value === null) {
      if (piece.length) found.push(piece);
      piece = [];
    } else {
      piece.push([time, value]);
    }
  });
  if (piece.length) found.push(piece);
  return found;
}
