// Elements from data. Text is only ever set as text: there is no way here to make markup of it.

/**
 * What an element may hold; `null`, `undefined` and `false` are left out.
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {{ [name: string]: string | number | boolean | null | undefined | ((event: Event) => unknown) }} Attributes
 */

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "disabled", "selected"]);
/** How many fields were given a name. */
let fields = 0;

/**
 * An HTML element: `h("p", { class: "note" }, "text", child, …)`. `on…` attributes are listeners.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 * @returns {E}
 */
function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (PROPERTIES.has(name) && name in element) {
      // The state of a field is a property; the attribute is only what it begins with.
      Object.assign(element, { [name]: value });
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  add(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {(Child | Child[])[]} children
 */
function add(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Puts children in the place of those that are there.
 * @template {Element} E
 * @param {E} element
 * @param {(Child | Child[])[]} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/**
 * Sets text only where it differs, so that selections and readers are not disturbed.
 * @param {Element} element
 * @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Control characters, and those that turn the direction of text or take no room.
// eslint-disable-next-line no-control-regex -- they are what is looked for
const UNSEEN = /[\u0000-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu;

/**
 * Text with what cannot be seen in it written out, so that it cannot pass for something else.
 * @param {string} text
 */
export function plain(text) {
  return String(text).replaceAll(UNSEEN, (one) => `⟨U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/**
 * Text from the web: plain, and isolated, so that its direction reaches no further than itself.
 * @param {string} text
 */
export function web(text, kind = "") {
  const shown = plain(text);
  return h("bdi", { class: `web ${kind}`.trim(), title: shown.length > 60 ? shown : null }, shown);
}

/**
 * A URL: always left to right, may break anywhere.
 * @param {string} text
 */
export function webUrl(text) {
  return h("bdi", { class: "web url", dir: "ltr" }, plain(text));
}

/**
 * Our own words, with `names` in backticks as code.
 * @param {string} text
 */
export function prose(text) {
  return text.split("`").map((one, at) => (at % 2 ? h("code", {}, one) : one));
}

/**
 * @param {string} to
 * @param {Child[]} children
 */
export function link(to, ...children) {
  return h("a", { href: to }, ...children);
}

/**
 * @param {string} label
 * @param {() => unknown} onclick
 * @param {Attributes} attributes
 */
export function button(label, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, label);
}

/**
 * What is shown where there is nothing, with what to do about it.
 * @param {string} title
 * @param {Child[]} advice
 */
export function empty(title, ...advice) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), h("p", {}, ...advice));
}

/**
 * Pairs of name and value; pairs with an absent value are left out.
 * @param {[string, Child | Child[]][]} pairs
 */
export function facts(pairs) {
  const list = h("dl", { class: "facts" });
  for (const [name, value] of pairs) {
    if (value === null || value === undefined) continue;
    const values = Array.isArray(value) ? value : [value];
    list.append(h("div", {}, h("dt", {}, name), h("dd", {}, ...values)));
  }
  return list;
}

/**
 * A label with its field.
 * @param {string} label
 * @param {HTMLElement} input
 * @param {string | null} hint
 */
export function field(label, input, hint = null) {
  const id = input.id || `f${(fields += 1)}`;
  input.id = id;
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    input,
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
  );
}

/**
 * @template {string} K
 * @param {readonly (readonly [K, string])[]} options
 * @param {K} value
 * @param {(() => unknown) | null} onchange
 */
export function select(options, value, onchange = null) {
  return h(
    "select",
    { onchange },
    options.map(([key, label]) => h("option", { value: key, selected: key === value }, label)),
  );
}
