// A form for one setting, by its kind. Gives the value as the API takes it.

import { button, h } from "./dom.js";
import { asError } from "./notices.js";

/**
 * @import { SettingView } from "api"
 * @typedef {{ input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement, read: () => unknown, hint: string }} Field
 */

/**
 * `save(value)` may refuse; what it says is shown in the form.
 * @param {SettingView} setting
 * @param {{ save: (value: unknown) => Promise<void>, refused: (error: unknown) => void, cancel: () => void }} calls
 */
export function edit(setting, { save, refused, cancel }) {
  const id = `edit-${setting.name.replaceAll(/[^a-z0-9_]/giu, "-")}`;
  const { input, read, hint } = inputFor(setting);
  input.id = id;
  const said = h("p", { class: "problem", role: "alert", id: `${id}-said` });
  input.setAttribute("aria-describedby", `${id}-hint ${id}-said`);
  const go = h("button", { class: "main" }, "Save");
  const form = h(
    "form",
    { class: "editor" },
    h("label", { for: id, class: input.type === "checkbox" ? "inline" : null }, `New value of ${setting.name}`),
    input,
    h("p", { class: "hint", id: `${id}-hint` }, hint),
    said,
    h("div", { class: "buttons" }, go, button("Cancel", cancel)),
  );
  form.noValidate = true;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.textContent = "";
    go.setAttribute("aria-busy", "true");
    try {
      await save(read());
    } catch (error) {
      said.textContent = asError(error).message;
      input.focus();
      refused(error);
    } finally {
      go.removeAttribute("aria-busy");
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") cancel();
  });
  return form;
}

/**
 * @param {SettingView} setting
 * @returns {Field}
 */
function inputFor(setting) {
  const { kind, value, optional } = setting;
  const leave = optional ? " Leave it empty for none." : "";
  if (kind === "boolean") {
    const input = h("input", { type: "checkbox", checked: value === true });
    return { input, read: () => input.checked, hint: "Checked is yes." };
  }
  if (kind === "choice") {
    const known = setting.choices ?? [];
    const choices = optional ? ["", ...known] : known;
    const input = h("select", {}, choices.map((one) => h("option", { value: one, selected: one === value }, one || "none")));
    return { input, read: () => input.value || null, hint: setting.meaning };
  }
  if (kind === "list") {
    const all = Array.isArray(value) ? value : [];
    const input = h("textarea", { rows: Math.min(12, Math.max(3, all.length + 1)), spellcheck: "false", value: all.join("\n") });
    return { input, read: () => lines(input.value), hint: "One on each line." };
  }
  if (kind === "map") {
    const pairs = Object.entries(value ?? {}).map(([name, one]) => `${name} = ${Array.isArray(one) ? one.join(", ") : one}`);
    const input = h("textarea", { rows: Math.min(12, Math.max(3, pairs.length + 1)), spellcheck: "false", value: pairs.join("\n") });
    return { input, read: () => pairsOf(input.value), hint: "One on each line, as: name = value." };
  }
  if (kind === "tables") {
    const input = h("textarea", { rows: 16, spellcheck: "false", value: JSON.stringify(value, null, 2) });
    return { input, read: () => tablesOf(input.value), hint: "A list of tables, as JSON." };
  }
  const input = h("input", { type: "text", value: String(value ?? ""), autocomplete: "off", autocapitalize: "none", spellcheck: "false" });
  if (kind === "integer" || kind === "number") {
    input.inputMode = kind === "integer" ? "numeric" : "decimal";
    return { input, read: () => numberOf(input.value, kind, optional), hint: `A ${kind === "integer" ? "whole " : ""}number${setting.unit ? ` of ${setting.unit}` : ""}.${leave}` };
  }
  /** @type {Partial<Record<typeof kind, string>>} */
  const examples = { duration: "A number and its unit: 250ms, 10s, 5min, 2h, 1d.", size: "A number and its unit: 512B, 64kB, 16MiB, 1GB.", text: "Text." };
  return { input, read: () => textOf(input.value, optional), hint: (examples[kind] ?? "") + leave };
}

/** @param {string} text */
function tablesOf(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${asError(error).message}`, { cause: error });
  }
}

/** @param {string} text */
function lines(text) {
  return text.split(/\r?\n/u).map((line) => line.trim()).filter(Boolean);
}

/** @param {string} text */
function pairsOf(text) {
  const pairs = lines(text).map((line) => {
    const at = line.lastIndexOf("=");
    if (at < 1) throw new Error(`“${line}” is not written as name = value.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

/**
 * @param {string} text
 * @param {"integer" | "number"} kind
 * @param {boolean} optional
 */
function numberOf(text, kind, optional) {
  const given = text.trim().replaceAll(",", "");
  if (!given) {
    if (optional) return null;
    throw new Error("A number is needed here.");
  }
  const number = Number(given);
  if (!Number.isFinite(number)) throw new TypeError(`“${given}” is not a number.`);
  if (kind === "integer" && !Number.isInteger(number)) throw new Error("A whole number is needed here.");
  return number;
}

/**
 * @param {string} text
 * @param {boolean} optional
 */
function textOf(text, optional) {
  const given = text.trim();
  return !given && optional ? null : given;
}
