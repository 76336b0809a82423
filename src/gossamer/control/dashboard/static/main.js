// The beginning: the token, then the shell around the pages, then the page that the address names.

import { Api, Refusal } from "./api.js";
import { fill } from "./dom.js";
import { Live } from "./live.js";
import { signIn } from "./login.js";
import { asError, clearNotices } from "./notices.js";
import { Outcomes } from "./outcomes.js";
import * as session from "./session.js";
import { Shell } from "./shell.js";

/** @type {{ shell: Shell, live: Live } | null} */
let running = null;

/** @param {string} token */
async function begin(token) {
  const api = new Api(token);
  let access;
  let outcomes;
  let status;
  try {
    access = await api.get("/access", {});
    outcomes = new Outcomes(await api.get("/outcomes", {}));
    status = await api.get("/status", {});
  } catch (error) {
    const wrong = error instanceof Refusal && error.status === 401;
    if (wrong) session.forget();
    const { message } = asError(error);
    ask(wrong ? `${message} Each crawl has its own: paste the whole line of its file.` : message, wrong ? "" : token);
    return;
  }
  session.keep(token);
  const live = new Live(api, status);
  const shell = new Shell({ api, live, access, outcomes, ended: status.read_only !== null, signOut: () => end(null) });
  api.onSignedOut = () => end("The token is not taken any more. Paste the one of the crawl that runs now.");
  running = { shell, live };
  clearNotices();
  fill(document.body, ...shell.elements);
  shell.begin();
  live.run();
}

/** @param {string | null} said */
function end(said) {
  running?.shell.close();
  running?.live.close();
  running = null;
  session.forget();
  ask(said);
}

/** @param {string | null} said */
function ask(said, token = "") {
  fill(document.body, signIn(begin, said, token));
  document.querySelector("input")?.focus();
}

function start() {
  const token = session.takeFromFragment() ?? session.kept();
  if (token) begin(token);
  else ask(null);
}

// A link with another token, opened in a tab that is signed in already.
window.addEventListener("hashchange", () => {
  const token = session.takeFromFragment();
  if (!token) return;
  running?.shell.close();
  running?.live.close();
  running = null;
  begin(token);
});

start();
