// The login: a token is pasted. It is sent in a header, never in an address.

import { h } from "./dom.js";
import { mark } from "./mark.js";

const OF_CRAWL = {
  about: "The dashboard of a crawl: what it does, and what it is told to do.",
  file: "control/token",
  readFile: "control/token-read",
  of: "of the crawl's directory",
};

/**
 * @param {(token: string) => Promise<void>} begin
 * @param {string | null} said why the token is asked for again
 * @param {string} token what the field begins with
 * @param {typeof OF_CRAWL} words what it is the login of, and where its tokens are
 */
export function signIn(begin, said, token, words = OF_CRAWL) {
  const input = h("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    required: true,
    "aria-describedby": "token-hint token-said",
    value: token,
  });
  const problem = h("p", { class: "problem", role: "alert", id: "token-said" }, said ?? "");
  const go = h("button", { class: "main" }, "Sign in");
  const form = h(
    "form",
    { class: "card login" },
    h("div", { class: "login-brand" }, mark(40), h("h1", {}, "Gossamer")),
    h("p", {}, words.about),
    h("label", { for: "token" }, "Token"),
    input,
    h(
      "p",
      { class: "hint", id: "token-hint" },
      "It is in the file ",
      h("code", {}, words.file),
      ` ${words.of}; `,
      h("code", {}, words.readFile),
      " may look and change nothing. It stays in this tab and is gone when the tab is closed.",
    ),
    problem,
    go,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = input.value.trim();
    if (!given) return;
    if (!/^[!-~]+$/u.test(given)) {
      problem.textContent = "That is no token: it has letters, digits, - and _ only.";
      return;
    }
    go.setAttribute("aria-busy", "true");
    await begin(given);
  });
  return h("main", { class: "login-page" }, form);
}
