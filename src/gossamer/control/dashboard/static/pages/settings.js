// Settings: every one with meaning, unit, range and value; live ones can be changed and undone.

import { part } from "../api.js";
import { keepAsking } from "../asking.js";
import { button, empty, fill, h, prose, say, web } from "../dom.js";
import { edit } from "../editor.js";
import { bytes, capital, date, span, value, words } from "../format.js";
import { doing, tell } from "../notices.js";

const STAGES = { "": "The crawl itself" };

export function show(root, context) {
  const { api, live, signal, operates } = context;
  let view = null;
  const rows = new Map();
  const search = h("input", { type: "search", id: "find-setting", autocapitalize: "none", spellcheck: "false" });
  const only = h("select", { id: "which-settings" }, [["live", "that can change now"], ["changed", "that were changed"], ["all", "all"]].map(([key, label]) => h("option", { value: key }, label)));
  const version = h("p", { class: "hint", role: "status" });
  const list = h("div", { class: "settings" });
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
      h("div", {}, list, nothing),
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
    for (const section of list.children) section.hidden = !section.querySelector(".setting:not([hidden])");
    fill(nothing, shown ? null : empty("No setting matches", "Search for a part of its name or meaning, or show all."));
  };
  search.addEventListener("input", sift);
  only.addEventListener("change", sift);

  const again = keepAsking(context, list, 10, () => api.get("/settings", {}, signal), (found) => {
    view = found;
    say(version, found.version ? `Version ${found.version}. A change applies to all nodes and outlives restarts.` : "As the crawl was begun. A change applies to all nodes and outlives restarts.");
    for (const setting of found.settings) {
      const row = rows.get(setting.name) ?? place(setting);
      row.show(setting);
    }
    sift();
  });
  const place = (setting) => {
    const row = new Row(context, setting, () => view.version, () => { again(); past(); });
    rows.set(setting.name, row);
    const stage = setting.stage === setting.name ? "" : setting.stage;
    let section = list.querySelector(`section[data-stage="${CSS.escape(stage)}"]`);
    if (!section) {
      section = h("section", { class: "card", "data-stage": stage }, h("h2", {}, STAGES[stage] ?? capital(words(stage))));
      list.append(section);
    }
    section.append(row.element);
    return row;
  };
  let shownChanges = 20;
  const past = keepAsking(context, changes, 0, () => api.get("/settings/changes", { limit: shownChanges }, signal), (found) =>
    fill(changes, history(found, context, () => { again(); past(); }), found.length >= shownChanges && button("Show older ones", () => { shownChanges = Math.min(500, shownChanges + 50); past(); })));
  live.addEventListener("event", ({ detail }) => {
    if (detail.kind === "setting") { again(); past(); }
  }, { signal });
}

class Row {
  #value = h("span", { class: "setting-value" });
  #note = h("span", { class: "sub" });
  #edit = null;
  #form = h("div", {});
  setting = null;

  constructor(context, setting, version, after) {
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

  show(setting) {
    this.setting = setting;
    const text = withUnit(setting, setting.value);
    if (this.#value.textContent !== text) fill(this.#value, web(text, "cut"));
    const same = JSON.stringify(setting.value) === JSON.stringify(setting.default);
    say(this.#note, same ? "default" : `default: ${shortened(withUnit(setting, setting.default))}`);
    this.element.classList.toggle("changed", setting.changed_in !== null);
  }

  #open({ api }, version, after) {
    if (this.#form.firstChild) {
      this.#close();
      return;
    }
    this.#edit.setAttribute("aria-expanded", "true");
    // What was looked at is what is changed: another's change in between is not overwritten unseen.
    const seen = version();
    const form = edit(this.setting, {
      save: async (wanted) => {
        const change = await api.patch("/settings", { values: { [this.setting.name]: wanted }, expected_version: seen });
        const by = change.applied_by.length ? `, applied by ${change.applied_by.join(", ")}` : "";
        tell(`${this.setting.name} is ${withUnit(this.setting, change.values[0].new)} now: version ${change.version}${by}.`);
        this.#close();
        after();
      },
      refused: (error) => {
        if (error.code === "other_version") after();
      },
      cancel: () => this.#close(),
    });
    fill(this.#form, form);
    form.querySelector("input, select, textarea")?.focus();
  }

  #close() {
    fill(this.#form);
    this.#edit.setAttribute("aria-expanded", "false");
    this.#edit.focus();
  }
}

function withUnit(setting, given) {
  const text = value(given);
  if (typeof given !== "number" || !setting.unit) return text;
  return `${text} ${given === 1 ? setting.unit.replace(/s$/, "") : setting.unit}`;
}

function shortened(text) {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

const KINDS = {
  integer: "whole number", number: "number", boolean: "yes or no", text: "text", choice: "one of a few",
  duration: "time, such as 10s", size: "size, such as 64MiB", list: "list", map: "list of name and value",
};

function range(setting) {
  const parts = [setting.choices ? setting.choices.join(", ") : KINDS[setting.kind] ?? setting.kind];
  if (setting.unit) parts.push(setting.unit);
  const end = { duration: span, size: bytes }[setting.kind] ?? value;
  if (setting.minimum !== null && setting.maximum !== null) parts.push(`${end(setting.minimum)} to ${end(setting.maximum)}`);
  else if (setting.minimum !== null) parts.push(`from ${end(setting.minimum)}`);
  else if (setting.maximum !== null) parts.push(`up to ${end(setting.maximum)}`);
  if (setting.optional) parts.push("may be absent");
  return parts.join(", ");
}

function history(changes, { api, operates }, after) {
  if (!changes.length) return empty("No changes yet", "Each change is listed here with who made it, when, and the old value; and can be undone.");
  return h("ol", { class: "changes", reversed: true }, changes.map((change) => {
    const go = button("Undo", () => doing(go, async () => {
      const made = await api.post(`/settings/changes/${part(change.version)}/undo`);
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
