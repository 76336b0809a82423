// Commands to the whole crawl: what each does, and whether it must be confirmed.

import { h } from "./dom.js";
import { counted, span } from "./format.js";
import { complain, confirmed, tell } from "./notices.js";

/**
 * @import { Api } from "./api.js"
 * @import { Command } from "api"
 */

/** @type {Record<Command, { label: string, meaning: string }>} */
export const COMMANDS = {
  pause: { label: "Pause", meaning: "No new visit on any node within a second." },
  resume: { label: "Resume", meaning: "Visits go on." },
  checkpoint: { label: "Checkpoint now", meaning: "Everything done so far is made durable." },
  rerank: { label: "Re-rank now", meaning: "What is queued is put in the order of the settings." },
  add_node: { label: "Add a node", meaning: "Starts one more crawl node." },
  stop: { label: "Stop…", meaning: "Everything is saved, then the crawl ends." },
};

/**
 * Gives a command and tells what came of it; `true` if it was given.
 * @param {Api} api
 * @param {Command} name
 */
export async function command(api, name) {
  if (name === "stop") {
    const text = "Visits under way are finished and everything is saved. This page loses its control node; the crawl can be taken up again with --resume.";
    if (!(await confirmed("Stop the crawl?", h("p", {}, text), "Stop the crawl"))) return false;
  }
  const result = await api.post("/commands", { body: { command: name } });
  const { label } = COMMANDS[name];
  const missing = result.nodes.filter((node) => !node.confirmed);
  if (missing.length) {
    const names = missing.map((node) => (node.note ? `${node.node} (${node.note})` : node.node)).join(", ");
    complain(new Error(`${label.replace("…", "")}: not confirmed by ${names}.`));
  } else if (!result.nodes.length) {
    complain(new Error(`${label.replace("…", "")}: no node is alive to confirm it.`));
  } else {
    const slowest = Math.max(0, ...result.nodes.map((node) => node.seconds ?? 0));
    tell(`${label.replace("…", "")}: confirmed by ${counted(result.nodes.length, "node")} in ${span(slowest)}.`);
  }
  return true;
}
