// The beginning: the token, then the shell around the pages, then the page that the address names.

import { Api } from "./api.js";
import { fill } from "./dom.js";
import { Live } from "./live.js";
import { signIn } from "./login.js";
import { clearNotices } from "./notices.js";
import * as session from "./session.js";
import { Shell } from "./shell.js";

let running = null;

async function begin(token, said = null) {
  const api = new Api(token);
  let access;
  try {
    access = await api.get("/access");
  } catch (error) {
    if (error.status === 401) session.forget();
    ask(error.message, error.status === 401 ? "" : token);
    return;
  }
  session.keep(token);
  const live = new Live(api);
  const shell = new Shell({ api, live, access, signOut: () => end(said) });
  api.onSignedOut = () => end("The token is not taken any more. Paste the one of the crawl that runs now.");
  running = { shell, live };
  clearNotices();
  fill(document.body, ...shell.elements);
  shell.begin();
  live.run();
}

function end(said) {
  running?.shell.close();
  running?.live.close();
  running = null;
  session.forget();
  ask(said);
}

function ask(said, token = "") {
  fill(document.body, signIn(begin, said, token));
  document.querySelector("#token")?.focus();
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
