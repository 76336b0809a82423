// Elements from data. Text is only ever set as text: there is no way here to make markup of it.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: `h("p", { class: "note" }, "text", child, …)`. `on…` attributes are listeners. */
export function h(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (name === "value" && "value" in element) {
      element.value = value;
    } else if (name === "checked" || name === "disabled" || name === "selected") {
      element[name] = Boolean(value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Puts children in the place of those that are there. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Sets text only where it differs, so that selections and readers are not disturbed. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Control characters, and those that turn the direction of text or take no room.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text with what cannot be seen in it written out, so that it cannot pass for something else. */
export function plain(text) {
  return String(text).replace(UNSEEN, (one) => `⟨U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** Text from the web: plain, and isolated, so that its direction reaches no further than itself. */
export function web(text, kind = "") {
  const shown = plain(text);
  return h("bdi", { class: `web ${kind}`.trim(), title: shown.length > 60 ? shown : null }, shown);
}

/** A URL: always left to right, may break anywhere. */
export function webUrl(text) {
  return h("bdi", { class: "web url", dir: "ltr" }, plain(text));
}

/** Our own words, with `names` in backticks as code. */
export function prose(text) {
  return text.split("`").map((one, at) => (at % 2 ? h("code", {}, one) : one));
}

export function link(to, ...children) {
  return h("a", { href: to }, ...children);
}

export function button(label, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, label);
}

/** What is shown where there is nothing, with what to do about it. */
export function empty(title, ...advice) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), h("p", {}, ...advice));
}

/** Pairs of name and value; pairs with an absent value are left out. */
export function facts(pairs) {
  const list = h("dl", { class: "facts" });
  for (const [name, value] of pairs) {
    if (value === null || value === undefined) continue;
    const values = Array.isArray(value) ? value : [value];
    list.append(h("div", {}, h("dt", {}, name), h("dd", {}, ...values)));
  }
  return list;
}

/** A label with its field. */
export function field(label, input, hint = null) {
  const id = input.id || `f${++field.count}`;
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
field.count = 0;

export function select(options, value, onchange = null) {
  return h(
    "select",
    { onchange },
    options.map(([key, label]) => h("option", { value: key, selected: key === value }, label)),
  );
}
