// Nodes: who works, how well, and who was not heard of.

import { keepAsking } from "../asking.js";
import { part } from "../api.js";
import { command } from "../commands.js";
import { button, fill, h, prose, web } from "../dom.js";
import { bytes, capital, count, date, figure, relative, span, words } from "../format.js";
import { confirmed, doing, tell } from "../notices.js";
import { Table } from "../table.js";

const TONES = { running: "good", paused: "warn", joining: "calm", leaving: "calm", finished: "calm", silent: "bad", lost: "bad", disk_full: "bad" };
const CONTROL_TONES = { leads: "good", waits: "calm", lost: "bad" };
const CONTROL_WORDS = { leads: "Leads", waits: "Waits in reserve", lost: "Lost" };

export function show(root, context) {
  const { api, live, signal, operates } = context;
  const state = (value) => h("span", { class: `pill ${TONES[value] ?? "warn"}` }, capital(words(value)));
  const ago = (time) => `${span(Math.max(0, Math.round(live.now() - time)))} ago`;
  const table = new Table({
    caption: "Crawl nodes",
    className: "cards",
    key: (node) => node.id,
    columns: [
      { label: "Node", of: (node) => [node.id, node.address, node.pid], draw: ([id, address, pid]) => [h("strong", {}, web(id)), h("span", { class: "sub" }, [address, pid && `process ${pid}`].filter(Boolean).join(", "))] },
      { label: "State", of: (node) => [node.state, node.note], draw: ([value, note]) => [state(value), note ? h("span", { class: "sub" }, web(note)) : null] },
      { label: "Heartbeat", number: true, of: (node) => [ago(node.last_heartbeat), live.now() - node.last_heartbeat > 10, span(Math.round(node.uptime))], draw: ([text, late, up]) => [h("span", { class: late ? "bad-text" : null }, text), h("span", { class: "sub" }, `up ${up}`)] },
      { label: "Pages", number: true, of: (node) => [count(node.pages), figure(node.pages_per_second)], draw: ([pages, rate]) => [pages, h("span", { class: "sub" }, `${rate} per second`)] },
      { label: "URLs analysed", number: true, of: (node) => [count(node.urls_seen), count(node.urls_queued)], draw: ([seen, queued]) => [seen, h("span", { class: "sub" }, `${queued} queued`)] },
      { label: "Memory", number: true, of: (node) => bytes(node.rss) },
      { label: "Disk", number: true, of: (node) => [bytes(node.disk), node.disk_free === null ? null : bytes(node.disk_free)], draw: ([used, free]) => [used, free && h("span", { class: "sub" }, `${free} free`)] },
      { label: "Partitions", number: true, of: (node) => [count(node.partitions), node.settings_version], draw: ([partitions, version]) => [partitions, h("span", { class: "sub" }, `settings v${version}`)] },
      ...(operates ? [{ label: "Commands", wide: true, of: (node) => [node.id, node.state], draw: (_, node) => commands(node, context, () => again()) }] : []),
    ],
  });
  const adding = h("div", {});
  const controls = new Table({
    caption: "Control nodes",
    className: "cards",
    key: (node) => node.id,
    columns: [
      { label: "Control node", of: (node) => [node.id, node.version], draw: ([id, version]) => [h("strong", {}, web(id)), version && h("span", { class: "sub" }, `version ${version}`)] },
      { label: "State", of: (node) => node.state, draw: (value) => h("span", { class: `pill ${CONTROL_TONES[value] ?? "warn"}` }, CONTROL_WORDS[value] ?? capital(words(value))) },
      { label: "Heartbeat", number: true, of: (node) => [node.last_heartbeat === null ? "–" : relative(node.last_heartbeat, live.now()), node.state === "lost"], draw: ([text, lost]) => h("span", { class: lost ? "bad-text" : null }, text) },
      { label: "Since", number: true, of: (node) => (node.since === null ? "–" : date(node.since)) },
      { label: "Serves at", of: (node) => node.url, draw: (url) => (url === null ? "–" : web(url)) },
    ],
  });
  root.append(
    h("h1", {}, "Nodes"),
    table.element,
    h("section", { class: "card" }, h("h2", {}, "Add a node"), adding),
    h("section", { class: "card" }, h("h2", {}, "Control nodes"), controls.element),
  );
  const again = keepAsking(context, table.element, 2, () => api.get("/nodes", {}, signal), (nodes) => table.show(nodes));
  keepAsking(context, adding, 30, () => api.get("/commands", {}, signal), (offered) => showAdding(adding, offered, context, again));
  // Every status tells them; asked for as well, where there are no live updates.
  keepAsking(context, controls.element, 30, () => api.get("/control-nodes", {}, signal), (nodes) => controls.show(nodes));
  live.addEventListener("status", () => controls.show(live.status.control), { signal });
  live.addEventListener("event", ({ detail }) => detail.kind.startsWith("node") && again(), { signal });
}

function commands(node, { api }, again) {
  const give = (name) => async () => {
    const after = await api.post(`/nodes/${part(node.id)}/${name}`);
    tell(`${node.id}: ${name} was taken; it is ${words(after.state)}.`);
    again();
  };
  const list = [];
  const offer = (label, name, attributes = {}, ask = async () => true) => {
    const go = button(label, () => doing(go, async () => { if (await ask()) await give(name)(); }), attributes);
    list.push(go);
  };
  if (["running", "joining", "disk_full"].includes(node.state)) offer("Pause", "pause");
  if (node.state === "paused") offer("Resume", "resume");
  if (node.state !== "leaving" && node.state !== "finished") {
    offer("Remove…", "remove", { class: "danger" }, () =>
      confirmed(`Remove node ${node.id}?`, h("p", {}, "Its partitions move to the other nodes, then its process ends. Nothing is lost."), "Remove the node"));
  }
  return h("span", { class: "buttons" }, list);
}

function showAdding(place, offered, { api, operates }, again) {
  const one = offered.find(({ command: name }) => name === "add_node");
  const go = button("Add a node", () => doing(go, async () => { if (await command(api, "add_node")) again(); }), { disabled: !one?.available || !operates });
  fill(
    place,
    h("p", {}, one?.available ? "Starts one more crawl node on this machine; a share of the partitions moves to it. On another machine: " : prose(capital(one?.reason ?? "this crawl cannot start nodes by itself")), one?.available && h("code", {}, "gossamer node")),
    go,
  );
}
