// The time that plots show: the last minutes or hours, or any part of what is kept.

import { field, h, say } from "./dom.js";
import { date } from "./format.js";

/** Seconds: more than any crawl is old. */
export const ALL = 315_360_000;
/** @type {[string, string][]} */
const RANGES = [["600", "10 min"], ["3600", "1 h"], ["21600", "6 h"], ["259200", "3 d"], [String(ALL), "All"], ["custom", "Custom…"]];

/**
 * A choice of ranges. `oldest`: the first time that is known. `load(seconds, fixed)`: the last `seconds`, or of them
 * only the part from … to. `choose` chooses one by its seconds.
 * @param {() => number} now
 * @param {() => number | null} oldest
 * @param {(seconds: number, fixed: [number, number] | null) => unknown} load
 */
export function rangeChoice(now, oldest, load) {
  const range = h("fieldset", { class: "range" }, h("legend", { class: "unseen" }, "Time shown"));
  const from = h("input", { type: "datetime-local", step: 1 });
  const to = h("input", { type: "datetime-local", step: 1 });
  const said = h("p", { class: "problem", role: "alert" });
  const between = h("div", { class: "filters custom-range", hidden: true }, field("From", from), field("To", to), said);
  /** @returns {[number, number]} */
  const limits = () => [Date.parse(from.value) / 1000, Date.parse(to.value) / 1000];
  const wrong = () => {
    const [[begin, end], first] = [limits(), oldest()];
    return Number.isNaN(begin) || Number.isNaN(end) ? "Both times are needed."
      : end <= begin ? "The second time must be after the first."
      : first !== null && end <= first ? `Nothing is known before ${date(first)}.` : "";
  };
  const custom = async () => {
    say(said, wrong());
    if (wrong()) return;
    const [begin, end] = limits();
    await load(Math.max(60, Math.min(ALL, Math.ceil(now() - begin))), [begin, end]);
    // The first time that is known may have come just now.
    say(said, wrong());
  };
  for (const one of [from, to]) one.addEventListener("change", custom);
  /** @type {Map<string, HTMLInputElement>} */
  const inputs = new Map();
  for (const [seconds, label] of RANGES) {
    const input = h("input", { type: "radio", name: "range", value: seconds, checked: seconds === "600" });
    inputs.set(seconds, input);
    input.addEventListener("change", () => {
      between.hidden = seconds !== "custom";
      if (seconds !== "custom") {
        load(Number(seconds), null);
        return;
      }
      if (!from.value) {
        from.value = local(Math.max(now() - 1800, oldest() ?? 0));
        to.value = local(now());
      }
      // What the fields say is what is shown.
      custom();
    });
    range.append(h("label", {}, input, h("span", {}, label)));
  }
  /** @param {number} seconds */
  const choose = (seconds) => {
    const input = inputs.get(String(seconds));
    if (input) input.checked = true;
    load(seconds, null);
  };
  return { range, between, choose };
}

/**
 * A time as such a field takes it: local, without a zone.
 * @param {number} time
 */
function local(time) {
  const moment = new Date(time * 1000);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
