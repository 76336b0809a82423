// Notices, and questions before something that cannot be undone.

import { button, h } from "./dom.js";

const SHOWN_FOR = 7000;

// Two places, both there from the start: a reader announces changes only in places it knows.
const said = h("div", { class: "notices", role: "status", "aria-live": "polite" });
const wrong = h("div", { class: "notices", role: "alert" });
export const places = h("div", { class: "notice-places" }, wrong, said);

/** Something was done. */
export function tell(text) {
  const notice = h("div", { class: "notice done" }, h("p", {}, text));
  said.append(notice);
  setTimeout(() => notice.remove(), SHOWN_FOR);
}

/** Something went wrong; stays until it is closed. */
export function complain(error) {
  if (error.name === "AbortError") return;
  const text = error.message || String(error);
  if ([...wrong.children].some((notice) => notice.dataset.text === text)) return;
  const notice = h("div", { class: "notice wrong", "data-text": text }, h("p", {}, text));
  notice.append(button("Close", () => notice.remove(), { class: "quiet" }));
  wrong.append(notice);
}

export function clearNotices() {
  said.replaceChildren();
  wrong.replaceChildren();
}

/** Does something at a button's press: the button rests meanwhile, a failure is told. */
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

/** Asks; `true` if it was confirmed. Closing or Escape is a no. `body` may hold fields. */
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
    (form.querySelector("input, select") ?? no).focus();
  });
}

/** What a page shows when its question was not answered. */
export function failure(error, again) {
  return h(
    "div",
    { class: "empty", role: "alert" },
    h("p", { class: "empty-title" }, "This could not be shown"),
    h("p", {}, error.message),
    button("Try again", again),
  );
}
