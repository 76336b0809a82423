// The mark: a thread or two of a web.

import { s } from "./dom.js";

/** @param {number} size */
export function mark(size) {
  return s(
    "svg",
    { class: "mark", viewBox: "0 0 32 32", width: size, height: size, "aria-hidden": "true" },
    s("path", { d: "M16 2v28M3.9 9l24.2 14M28.1 9 3.9 23" }),
    s("path", { d: "M16 6.5 24.2 11v9.5L16 25.5l-8.2-5V11z" }),
    s("path", { d: "m16 11.5 4 2.3v4.6l-4 2.3-4-2.3v-4.6z" }),
  );
}
