// Numbers, sizes, times and words as people read them.

/** @type {[number, string, number, string][]} */
const UNITS = [[86400, "d", 3600, "h"], [3600, "h", 60, "min"], [60, "min", 1, "s"]];
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/**
 * 1,234,567
 * @param {number | null | undefined} number
 */
export function count(number) {
  return number === null || number === undefined ? "–" : WHOLE.format(number);
}

/**
 * The same, in words where digits would not be read: 3.804 billion.
 * @param {number} number
 */
export function large(number) {
  return number >= 1e9 ? `${(number / 1e9).toFixed(number >= 1e11 ? 1 : 3)} billion` : count(number);
}

/**
 * `1 page`, `2 pages`
 * @param {number} number
 * @param {string} one
 */
export function counted(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/**
 * Three digits that matter: 0.42, 12.3, 1,234.
 * @param {number | null | undefined} number
 */
export function figure(number) {
  if (number === null || number === undefined) return "–";
  const size = Math.abs(number);
  const places = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return new Intl.NumberFormat("en", { maximumFractionDigits: places }).format(number);
}

/**
 * 950, 12.3 k, 4.56 M: for axes.
 * @param {number} number
 */
export function short(number) {
  /** @type {[number, string][]} */
  const steps = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, letter] of steps) {
    if (Math.abs(number) >= size) return `${figure(number / size)} ${letter}`;
  }
  return figure(number);
}

/**
 * 12.3 MiB: as in settings and on the command line.
 * @param {number | null | undefined} number
 */
export function bytes(number) {
  if (number === null || number === undefined) return "–";
  let step = 0;
  let left = number;
  while (Math.abs(left) >= 1023.5 && step < SIZES.length - 1) {
    left /= 1024;
    step += 1;
  }
  return `${step === 0 ? count(left) : figure(left)} ${SIZES[step]}`;
}

/**
 * 250 ms, 12 s, 3 min 20 s, 4 h 5 min, 3 d 2 h
 * @param {number | null | undefined} seconds
 */
export function span(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const left = Math.abs(seconds);
  if (left === 0) return "0 s";
  if (left < 0.9995) return `${figure(left * 1000)} ms`;
  if (left < 10) return `${Number(left.toFixed(1))} s`;
  const whole = Math.round(left);
  if (whole < 60) return `${whole} s`;
  for (const [size, name, under, low] of UNITS) {
    if (whole < size) continue;
    const rest = Math.floor((whole % size) / under);
    return `${Math.floor(whole / size)} ${name}${rest ? ` ${rest} ${low}` : ""}`;
  }
  return `${whole} s`;
}

/**
 * 12 s ago, in 3 min, now. Days are as far as it goes; then the date says more.
 * @param {number} time
 * @param {number} now
 */
export function relative(time, now) {
  const away = now - time;
  if (Math.abs(away) < 1) return "now";
  if (Math.abs(away) > 400 * 86400) return date(time);
  return away > 0 ? `${span(Math.round(away))} ago` : `in ${span(Math.ceil(-away))}`;
}

/**
 * The same to its largest unit: 3 min ago. For tables.
 * @param {number} time
 * @param {number} now
 */
export function roughly(time, now) {
  const [first = "", unit = ""] = relative(time, now).replace(/^in /u, "").split(" ");
  if (first === "now" || !unit) return relative(time, now);
  return now >= time ? `${first} ${unit} ago` : `in ${first} ${unit}`;
}

/** @param {number} figures */
const two = (figures) => String(figures).padStart(2, "0");

/**
 * 2026-11-15 22:41:07, local time.
 * @param {number} time
 */
export function date(time) {
  const moment = new Date(time * 1000);
  if (Number.isNaN(moment.getTime())) return "never";
  return `${moment.getFullYear()}-${day(time)} ${clock(time)}`;
}

/**
 * 11-15
 * @param {number} time
 */
export function day(time) {
  const moment = new Date(time * 1000);
  return `${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}

/**
 * 22:41:07
 * @param {number} time
 */
export function clock(time, seconds = true) {
  const moment = new Date(time * 1000);
  const text = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  return seconds ? `${text}:${two(moment.getSeconds())}` : text;
}

/**
 * `set_aside` is written "set aside".
 * @param {string} name
 */
export function words(name) {
  return String(name).replaceAll("_", " ").replaceAll(/\b(dns|tls|url|http2|ip)\b/gu, (one) => one.toUpperCase());
}

/**
 * With a full stop, where there is no other end.
 * @param {string} text
 */
export function ended(text) {
  return /[.!?…]$/u.test(text) ? text : `${text}.`;
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  return share > 0 && share < 0.1 ? "< 0.1 %" : `${figure(Number(share.toPrecision(3)))} %`;
}

/**
 * A setting's value as one line.
 * @param {unknown} given
 * @returns {string}
 */
export function value(given) {
  if (given === null || given === undefined) return "absent";
  if (typeof given === "boolean") return given ? "yes" : "no";
  if (Array.isArray(given)) {
    const parts = given.map((one) => (typeof one === "object" && one !== null ? `{${value(one)}}` : String(one)));
    return parts.length ? parts.join(", ") : "none";
  }
  if (typeof given === "object") {
    const pairs = Object.entries(given).map(([name, one]) => `${name} = ${value(one)}`);
    return pairs.length ? pairs.join(", ") : "none";
  }
  if (typeof given === "number") return new Intl.NumberFormat("en", { maximumFractionDigits: 6 }).format(given);
  return given === "" ? "empty" : String(given);
}
