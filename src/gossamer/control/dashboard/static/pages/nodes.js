// Nodes: who works, how well, and who was not heard of.

import { keepAsking } from "../asking.js";
import { command } from "../commands.js";
import { button, empty, fill, h, prose, web } from "../dom.js";
import { bytes, capital, count, date, figure, relative, span, words } from "../format.js";
import { confirmed, doing, tell } from "../notices.js";
import { NodePlots } from "../node_plots.js";
import { Table } from "../table.js";

/**
 * @import { CommandInfo, ControlNodeView, NodeCommand, NodeView } from "api"
 * @import { Attributes } from "../dom.js"
 * @import { Context } from "../shell.js"
 * @import { Column } from "../table.js"
 */

/** @type {Record<NodeView["state"], string>} */
const TONES = { running: "good", paused: "warn", joining: "calm", leaving: "calm", finished: "calm", silent: "bad", lost: "bad", disk_full: "bad" };
/** @type {Record<ControlNodeView["state"], string>} */
const CONTROL_TONES = { leads: "good", waits: "calm", lost: "bad" };
/** @type {Record<ControlNodeView["state"], string>} */
const CONTROL_WORDS = { leads: "Leads", waits: "Waits in reserve", lost: "Lost" };

/**
 * @param {HTMLElement} root
 * @param {Context} context
 */
export function show(root, context) {
  const { api, live, signal, operates } = context;
  /** @param {NodeView["state"]} value */
  const state = (value) => h("span", { class: `pill ${TONES[value] ?? "warn"}` }, capital(words(value)));
  /** @param {number | null} time */
  const ago = (time) => (time === null ? "–" : relative(Math.min(time, live.now()), live.now()));
  /**
   * What it last said of itself is over.
   * @param {NodeView} node
   */
  const gone = (node) => node.state === "lost" || node.state === "silent";
  /** @param {NodeView} node */
  const late = (node) => node.last_heartbeat !== null && live.status.read_only === null && live.now() - node.last_heartbeat > 10;
  /**
   * A second line, where there is something to say.
   * @param {number | null} known
   * @param {(value: number) => string} text
   */
  const sub = (known, text) => known !== null && h("span", { class: "sub" }, text(known));
  /** @type {Column<NodeView>[]} */
  const columns = [
    { label: "Node", order: (node) => node.id, of: (node) => [node.id, node.address, node.pid], draw: ({ id, address, pid }) => [h("strong", {}, web(id)), h("span", { class: "sub" }, [address, pid && `process ${pid}`].filter(Boolean).join(", "))] },
    { label: "State", order: (node) => node.state, of: (node) => [node.state, node.note], draw: ({ state: value, note }) => [state(value), note ? h("span", { class: "sub" }, web(note)) : null] },
    { label: "Heartbeat", number: true, order: (node) => node.last_heartbeat, of: (node) => [ago(node.last_heartbeat), late(node), gone(node), span(Math.round(node.uptime ?? 0))], draw: (node) => [h("span", { class: late(node) ? "bad-text" : null }, ago(node.last_heartbeat)), !gone(node) && sub(node.uptime, (up) => `up ${span(Math.round(up))}`)] },
    { label: "Pages", number: true, order: (node) => node.pages, of: (node) => [node.pages, figure(node.pages_per_second), gone(node)], draw: (node) => [count(node.pages), !gone(node) && sub(node.pages_per_second, (rate) => `${figure(rate)} per second`)] },
    { label: "URLs analysed", number: true, order: (node) => node.urls_seen, of: (node) => [node.urls_seen, node.urls_queued], draw: (node) => [count(node.urls_seen), sub(node.urls_queued, (queued) => `${count(queued)} queued`)] },
    { label: "Memory", number: true, order: (node) => node.rss, of: (node) => bytes(node.rss) },
    { label: "Disk", number: true, order: (node) => node.disk, of: (node) => [bytes(node.disk), bytes(node.disk_free)], draw: (node) => [bytes(node.disk), node.disk_free !== null && h("span", { class: "sub" }, `${bytes(node.disk_free)} free`)] },
    { label: "Partitions", number: true, order: (node) => node.partitions, of: (node) => [node.partitions, node.settings_version], draw: (node) => [count(node.partitions), sub(node.settings_version, (version) => `settings v${version}`)] },
  ];
  if (operates) columns.push({ label: "Commands", wide: true, of: (node) => [node.id, node.state], draw: (node) => commands(node, context, () => again()) });
  const table = new Table({ caption: "Crawl nodes", className: "cards", key: (node) => node.id, columns });
  const nothing = h("div", {});
  const adding = h("section", { class: "card", hidden: true });
  const plots = new NodePlots(context);
  /** @type {Column<ControlNodeView>[]} */
  const controlColumns = [
    { label: "Control node", of: (node) => [node.id, node.version], draw: ({ id, version }) => [h("strong", {}, web(id)), version && h("span", { class: "sub" }, `version ${version}`)] },
    { label: "State", of: (node) => node.state, draw: (node) => h("span", { class: `pill ${CONTROL_TONES[node.state] ?? "warn"}` }, CONTROL_WORDS[node.state] ?? capital(words(node.state))) },
    { label: "Heartbeat", number: true, of: (node) => [heard(node), node.state], draw: (node) => h("span", { class: node.state === "lost" ? "bad-text" : null }, heard(node)) },
    { label: "Since", number: true, of: (node) => (node.since === null ? "–" : date(node.since)) },
    { label: "Serves at", of: (node) => node.url, draw: ({ url }) => (url === null ? "–" : web(url)) },
  ];
  /** @param {ControlNodeView} node */
  const heard = (node) => (node.last_heartbeat === null ? "–" : relative(node.last_heartbeat, live.now()));
  const controls = new Table({ caption: "Control nodes", className: "cards", key: (node) => node.id, columns: controlColumns });
  // Files are shown by a process that controls nothing.
  const leading = h("section", { class: "card", hidden: live.status.read_only !== null }, h("h2", {}, "Control nodes"), controls.element);
  root.append(
    h("h1", {}, "Nodes"),
    table.element,
    nothing,
    plots.element,
    adding,
    leading,
  );
  const again = keepAsking(context, table.element, 2, () => api.get("/nodes", { signal }), (nodes) => {
    table.element.hidden = !nodes.length;
    fill(nothing, nodes.length ? null : empty("No node has joined yet", "Nothing is visited without one. Start one on this machine below, or on any other with ", h("code", {}, "gossamer node"), "."));
    table.show(nodes);
    plots.show(nodes);
  });
  keepAsking(context, adding, 30, () => api.get("/commands", { signal }), (offered) => showAdding(adding, offered, context, again));
  // Every status tells them; asked for as well, where there are no live updates.
  keepAsking(context, controls.element, 30, () => api.get("/control-nodes", { signal }), (nodes) => controls.show(nodes));
  live.on("status", (status) => controls.show(status.control), signal);
  live.on("event", ({ kind }) => kind.startsWith("node") && again(), signal);
}

/**
 * @param {NodeView} node
 * @param {Context} context
 * @param {() => void} again
 */
function commands(node, { api, live }, again) {
  /** @param {NodeCommand} name */
  const give = (name) => async () => {
    const after = await api.post("/nodes/{node}/{command}", { path: { node: node.id, command: name } });
    tell(`${node.id}: ${name} was taken; it is ${words(after.state)}.`);
    again();
  };
  /** @type {HTMLButtonElement[]} */
  const list = [];
  /**
   * @param {string} label
   * @param {NodeCommand} name
   * @param {Attributes} attributes
   */
  const offer = (label, name, attributes = {}, ask = () => Promise.resolve(true)) => {
    /** @type {HTMLButtonElement} */
    const go = button(label, () => doing(go, async () => { if (await ask()) await give(name)(); }), attributes);
    list.push(go);
  };
  if (["running", "joining", "disk_full"].includes(node.state)) offer("Pause", "pause");
  if (node.state === "paused") offer("Resume", "resume");
  if (node.state !== "leaving" && node.state !== "finished" && live.status.mode !== "standalone") {
    offer("Remove…", "remove", { class: "danger" }, () =>
      confirmed(`Remove node ${node.id}?`, h("p", {}, "Its partitions move to the other nodes, then its process ends. Nothing is lost."), "Remove the node"));
  }
  return h("span", { class: "buttons" }, list);
}

/**
 * @param {HTMLElement} place
 * @param {CommandInfo[]} offered
 * @param {Context} context
 * @param {() => void} again
 */
function showAdding(place, offered, { api, operates, live }, again) {
  // A standalone crawl is one node: a button that never works says nothing.
  place.hidden = live.status.mode === "standalone" || !operates;
  const one = offered.find(({ command: name }) => name === "add_node");
  /** @type {HTMLButtonElement} */
  const go = button("Add a node", () => doing(go, async () => { if (await command(api, "add_node")) again(); }), { disabled: !one?.available });
  fill(
    place,
    h("h2", {}, "Add a node"),
    h("p", {}, one?.available ? "Starts one more crawl node on this machine; a share of the partitions moves to it. On another machine: " : prose(capital(one?.reason ?? "this crawl cannot start nodes by itself")), one?.available && h("code", {}, "gossamer node")),
    go,
  );
}
