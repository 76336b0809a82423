// The time that plots show: the last minutes or hours, or any part of what is kept.

import { field, h, say } from "./dom.js";

/** @type {[string, string][]} */
const RANGES = [["600", "10 min"], ["3600", "1 h"], ["21600", "6 h"], ["custom", "Custom…"]];
/** Seconds that the control node keeps. */
const KEPT = 21_600;

/**
 * A choice of ranges. `load(seconds, fixed)`: the last `seconds`, or of them only the part from … to.
 * @param {() => number} now
 * @param {(seconds: number, fixed: [number, number] | null) => unknown} load
 */
export function rangeChoice(now, load) {
  const range = h("fieldset", { class: "range" }, h("legend", { class: "unseen" }, "Time shown"));
  const from = h("input", { type: "datetime-local", step: 1 });
  const to = h("input", { type: "datetime-local", step: 1 });
  const said = h("p", { class: "problem", role: "alert" });
  const between = h("div", { class: "filters custom-range", hidden: true }, field("From", from), field("To", to), said);
  const custom = () => {
    const [begin, end] = [Date.parse(from.value) / 1000, Date.parse(to.value) / 1000];
    const back = now() - begin;
    const wrong = Number.isNaN(begin) || Number.isNaN(end) ? "Both times are needed."
      : end <= begin ? "The second time must be after the first."
      : back > KEPT ? "Only the last 6 hours are kept. Prometheus keeps more: see /metrics." : "";
    say(said, wrong);
    if (!wrong) load(Math.max(60, Math.min(KEPT, Math.ceil(back))), [begin, end]);
  };
  for (const one of [from, to]) one.addEventListener("change", custom);
  for (const [seconds, label] of RANGES) {
    const input = h("input", { type: "radio", name: "range", value: seconds, checked: seconds === "600" });
    input.addEventListener("change", () => {
      between.hidden = seconds !== "custom";
      if (seconds !== "custom") {
        load(Number(seconds), null);
        return;
      }
      if (!from.value) {
        from.value = local(now() - 1800);
        to.value = local(now());
      }
      // What the fields say is what is shown.
      custom();
    });
    range.append(h("label", {}, input, h("span", {}, label)));
  }
  return { range, between };
}

/**
 * A time as such a field takes it: local, without a zone.
 * @param {number} time
 */
function local(time) {
  const moment = new Date(time * 1000);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
