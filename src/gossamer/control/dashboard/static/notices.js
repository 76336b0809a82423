// Notices, and questions before something that cannot be undone.

import { button, h } from "./dom.js";

const SHOWN_FOR = 7000;

// Two places, both there from the start: a reader announces changes only in places it knows.
const said = h("div", { class: "notices", role: "status", "aria-live": "polite" });
const wrong = h("div", { class: "notices", role: "alert" });
export const places = h("div", { class: "notice-places" }, wrong, said);

/**
 * Something was done.
 * @param {string} text
 */
export function tell(text) {
  const notice = h("div", { class: "notice done" }, h("p", {}, text));
  said.append(notice);
  setTimeout(() => notice.remove(), SHOWN_FOR);
}

/**
 * What was thrown, as an error that has a message.
 * @param {unknown} thrown
 */
export function asError(thrown) {
  return thrown instanceof Error && thrown.message ? thrown : new Error(String(thrown));
}

/**
 * Something went wrong; stays until it is closed.
 * @param {unknown} thrown
 */
export function complain(thrown) {
  const error = asError(thrown);
  if (error.name === "AbortError") return;
  const text = error.message;
  if ([...wrong.querySelectorAll("p")].some((told) => told.textContent === text)) return;
  const notice = h("div", { class: "notice wrong" }, h("p", {}, text));
  notice.append(button("Close", () => notice.remove(), { class: "quiet" }));
  wrong.append(notice);
}

export function clearNotices() {
  said.replaceChildren();
  wrong.replaceChildren();
}

/**
 * Does something at a button's press: the button rests meanwhile, a failure is told.
 * @param {HTMLButtonElement} pressed
 * @param {() => Promise<unknown>} action
 */
export async function doing(pressed, action) {
  if (pressed.getAttribute("aria-busy") === "true") return;
  pressed.setAttribute("aria-busy", "true");
  try {
    await action();
  } catch (error) {
    complain(error);
  } finally {
    pressed.removeAttribute("aria-busy");
  }
}

/**
 * Asks; `true` if it was confirmed. Closing or Escape is a no. `body` may hold fields.
 * @param {string} title
 * @param {HTMLElement} body
 * @param {string} yes
 * @param {{ danger?: boolean }} [looks]
 * @returns {Promise<boolean>}
 */
export function confirmed(title, body, yes, { danger = true } = {}) {
  return new Promise((resolve) => {
    const heading = h("h2", { id: "question" }, title);
    const no = button("Cancel", () => dialog.close("no"));
    const go = h("button", { class: danger ? "danger" : "main" }, yes);
    const form = h("form", { method: "dialog" }, heading, body, h("div", { class: "buttons" }, no, go));
    const dialog = h("dialog", { "aria-labelledby": "question", class: "question" }, form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      dialog.close("yes");
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    // The harmless answer has the focus, unless there is something to fill in.
    /** @type {HTMLElement} */ (form.querySelector("input, select") ?? no).focus();
  });
}

/**
 * What a page shows when its question was not answered.
 * @param {unknown} error
 * @param {() => unknown} again
 */
export function failure(error, again) {
  return h(
    "div",
    { class: "empty", role: "alert" },
    h("p", { class: "empty-title" }, "This could not be shown"),
    h("p", {}, asError(error).message),
    button("Try again", again),
  );
}
