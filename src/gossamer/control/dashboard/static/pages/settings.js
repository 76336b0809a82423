// Settings: every one with meaning, unit, range and value; live ones can be changed and undone.

import { Refusal } from "../api.js";
import { keepAsking } from "../asking.js";
import { button, empty, fill, h, prose, say, web } from "../dom.js";
import { edit } from "../editor.js";
import { bytes, capital, date, span, value, words } from "../format.js";
import { doing, tell } from "../notices.js";

/**
 * @import { Change, SettingsView, SettingView } from "api"
 * @import { Context } from "../shell.js"
 */

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal, operates, looksOnly } = context;
  /** @type {SettingsView | null} */
  let view = null;
  /** @type {Map<string, Row>} */
  const rows = new Map();
  const search = h("input", { type: "search", id: "find-setting", autocapitalize: "none", spellcheck: "false" });
  const only = h("select", { id: "which-settings" }, [["live", "that can change now"], ["changed", "that were changed"], ["all", "all"]].map(([key, label]) => h("option", { value: key, selected: key === (operates ? "live" : "all") }, label)));
  const version = h("p", { class: "hint", role: "status" });
  const list = h("div", { class: "settings" });
  const index = h("nav", { class: "index", "aria-label": "Sections" });
  const nothing = h("div", {});
  const changes = h("div", {});
  root.append(
    h("h1", {}, "Settings"),
    h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      h("div", { class: "field" }, h("label", { for: "find-setting" }, "Find"), search),
      h("div", { class: "field" }, h("label", { for: "which-settings" }, "Show those"), only)),
    version,
    h(
      "div",
      { class: "with-aside" },
      h("div", {}, index, list, nothing),
      h("aside", { class: "card", "aria-label": "Changes" }, h("h2", {}, "Changes"), changes),
    ),
  );

  const sift = () => {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows.values()) {
      const { setting } = row;
      const kind = only.value === "all" || (only.value === "live" ? setting.live : setting.changed_in !== null);
      const fits = kind && `${setting.name} ${setting.meaning}`.toLowerCase().includes(wanted);
      row.element.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const section of list.children) section.toggleAttribute("hidden", !section.querySelector(".setting:not([hidden])"));
    showIndex(index, list);
    fill(nothing, shown ? null : empty("No setting matches", "Search for a part of its name or meaning, or show all."));
  };
  search.addEventListener("input", sift);
  only.addEventListener("change", sift);

  const again = keepAsking(context, list, 10, () => api.get("/settings", { signal }), (found) => {
    view = found;
    say(version, `${found.version ? `Version ${found.version}` : "As the crawl was begun"}. ${operates ? "A change applies to all nodes and outlives restarts." : looksOnly}`);
    for (const setting of found.settings) {
      const row = rows.get(setting.name) ?? place(setting);
      row.show(setting);
    }
    sift();
  });
  /** @param {SettingView} setting */
  const place = (setting) => {
    const row = new Row(context, setting, () => view?.version ?? null, () => { again(); past(); });
    rows.set(setting.name, row);
    let section = list.querySelector(`section[data-stage="${CSS.escape(setting.stage)}"]`);
    if (!section) {
      section = h("section", { class: "card", "data-stage": setting.stage }, h("h2", { tabindex: "-1" }, capital(words(setting.stage))));
      list.append(section);
    }
    section.append(row.element);
    return row;
  };
  let shownChanges = 20;
  /** @type {() => unknown} */
  const past = keepAsking(context, changes, 0, () => api.get("/settings/changes", { query: { limit: shownChanges }, signal }), (found) =>
    fill(changes, history(found, context, () => { again(); past(); }), found.length >= shownChanges && button("Show older ones", () => { shownChanges = Math.min(500, shownChanges + 50); past(); })));
  live.on("event", ({ kind }) => {
    if (kind === "setting") { again(); past(); }
  }, signal);
}

/**
 * A way to each section that is shown, with how many settings it has. The address is the page's, so the jump is made by hand.
 * @param {HTMLElement} index
 * @param {HTMLElement} list
 */
function showIndex(index, list) {
  const shown = [...list.children].filter((section) => !section.hasAttribute("hidden"));
  fill(index, h("ul", {}, shown.map((section) => {
    const number = section.querySelectorAll(".setting:not([hidden])").length;
    const jump = () => {
      section.scrollIntoView({ block: "start" });
      section.querySelector("h2")?.focus();
    };
    return h("li", {}, button(section.querySelector("h2")?.textContent ?? "", jump, { class: "quiet" }), h("span", { class: "sub" }, String(number)));
  })));
}

class Row {
  #value = h("span", { class: "setting-value" });
  #note = h("span", { class: "sub" });
  /** @type {HTMLButtonElement | null} absent where it cannot be changed */
  #edit = null;
  #form = h("div", {});

  /**
   * @param {Context} context
   * @param {SettingView} setting
   * @param {() => number | null} version
   * @param {() => void} after
   */
  constructor(context, setting, version, after) {
    this.setting = setting;
    if (setting.live && context.operates) {
      this.#edit = button("Change", () => this.#open(context, version, after), { "aria-label": `Change ${setting.name}`, "aria-expanded": "false" });
    }
    const short = setting.name.slice(setting.name.indexOf(".") + 1);
    this.element = h(
      "div",
      { class: "setting", "data-name": setting.name },
      h("div", { class: "setting-what" }, h("h3", { title: setting.name }, words(short)), h("p", {}, ...prose(capital(setting.meaning))), h("p", { class: "sub" }, h("code", {}, setting.name), ` · ${range(setting)}`)),
      h("div", { class: "setting-now" }, this.#value, this.#note),
      this.#edit ?? h("span", { class: "sub fixed", title: "Chosen when the crawl is created or started" }, setting.live ? "" : "fixed"),
      this.#form,
    );
  }

  /** @param {SettingView} setting */
  show(setting) {
    this.setting = setting;
    const text = withUnit(setting, setting.value);
    if (this.#value.textContent !== text) fill(this.#value, web(text, "cut"));
    const same = JSON.stringify(setting.value) === JSON.stringify(setting.default);
    say(this.#note, same ? "default" : `default: ${shortened(withUnit(setting, setting.default))}`);
    this.element.classList.toggle("changed", setting.changed_in !== null);
  }

  /**
   * @param {Context} context
   * @param {() => number | null} version
   * @param {() => void} after
   */
  #open({ api }, version, after) {
    if (this.#form.firstChild) {
      this.#close();
      return;
    }
    this.#edit?.setAttribute("aria-expanded", "true");
    // What was looked at is what is changed: another's change in between is not overwritten unseen.
    const seen = version();
    const form = edit(this.setting, {
      save: async (wanted) => {
        const change = await api.patch("/settings", { body: { values: { [this.setting.name]: wanted }, expected_version: seen } });
        const by = change.applied_by.length ? `, applied by ${change.applied_by.join(", ")}` : "";
        tell(`${this.setting.name} is ${withUnit(this.setting, change.values[0]?.new)} now: version ${change.version}${by}.`);
        this.#close();
        after();
      },
      refused: (error) => {
        if (error instanceof Refusal && error.code === "other_version") after();
      },
      cancel: () => this.#close(),
    });
    fill(this.#form, form);
    /** @type {HTMLElement | null} */ (form.querySelector("input, select, textarea"))?.focus();
  }

  #close() {
    fill(this.#form);
    this.#edit?.setAttribute("aria-expanded", "false");
    this.#edit?.focus();
  }
}

/**
 * @param {SettingView} setting
 * @param {unknown} given
 */
function withUnit(setting, given) {
  const text = value(given);
  if (typeof given !== "number" || !setting.unit) return text;
  return `${text} ${given === 1 ? setting.unit.replace(/s$/u, "") : setting.unit}`;
}

/** @param {string} text */
function shortened(text) {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** @type {Record<SettingView["kind"], string>} */
const KINDS = {
  integer: "whole number", number: "number", boolean: "yes or no", text: "text", choice: "one of a few",
  duration: "time, such as 10s", size: "size, such as 64MiB", list: "list", map: "list of name and value",
  tables: "tables, as JSON",
};

/** @param {SettingView} setting */
function range(setting) {
  const parts = [setting.choices ? setting.choices.join(", ") : KINDS[setting.kind] ?? setting.kind];
  if (setting.unit) parts.push(setting.unit);
  /** @param {number} limit */
  const end = (limit) => (setting.kind === "duration" ? span(limit) : setting.kind === "size" ? bytes(limit) : value(limit)).replaceAll(" ", "\u00A0");
  if (setting.minimum !== null && setting.maximum !== null) parts.push(`${end(setting.minimum)} to ${end(setting.maximum)}`);
  else if (setting.minimum !== null) parts.push(`from ${end(setting.minimum)}`);
  else if (setting.maximum !== null) parts.push(`up to ${end(setting.maximum)}`);
  if (setting.optional) parts.push("may be absent");
  return parts.join(", ");
}

/**
 * @param {Change[]} changes
 * @param {Context} context
 * @param {() => void} after
 */
function history(changes, { api, operates }, after) {
  if (!changes.length) return empty("No changes yet", operates ? "Each change is listed here with who made it, when, and the old value; and can be undone." : "No setting was changed since the crawl was begun.");
  return h("ol", { class: "changes", reversed: true }, changes.map((change) => {
    /** @type {HTMLButtonElement} */
    const go = button("Undo", () => doing(go, async () => {
      const made = await api.post("/settings/changes/{version}/undo", { path: { version: change.version } });
      tell(`Version ${change.version} is undone: version ${made.version}.`);
      after();
    }), { "aria-label": `Undo version ${change.version}` });
    return h(
      "li",
      {},
      h("div", {},
        h("p", { class: "sub" }, `Version ${change.version}, ${date(change.time)}, by ${change.who}${change.undoes === null ? "" : `, undoes version ${change.undoes}`}`),
        change.values.map((one) => h("p", { class: "was" }, h("code", {}, one.name), ": ", web(value(one.old), "cut"), " → ", h("b", {}, web(value(one.new), "cut"))))),
      operates && go,
    );
  }));
}
