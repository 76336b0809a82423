// Asking again and again, as long as a page is shown and looked at.

import { Refusal } from "./api.js";
import { failure } from "./notices.js";

/** @import { Live } from "./live.js" */

/**
 * Asks now, every `seconds`, and when the line is back; shows each answer. Where the first question
 * fails, `place` says so. Gives a function that asks at once.
 * @template A
 * @param {{ live: Live, signal: AbortSignal }} context
 * @param {Element} place
 * @param {number} seconds 0: not again by itself
 * @param {() => Promise<A>} ask
 * @param {(answer: A) => unknown} show
 */
export function keepAsking({ live, signal }, place, seconds, ask, show) {
  let answered = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let asking = false;
  let again = false;
  /** @type {Element | null} */
  let trouble = null;

  const once = async () => {
    clearTimeout(timer);
    if (signal.aborted) return;
    if (asking) {
      // What was asked for meanwhile is asked after this: it may be about a change just made.
      again = true;
      return;
    }
    asking = true;
    try {
      const answer = await ask();
      if (signal.aborted) return;
      answered = true;
      trouble?.remove();
      trouble = null;
      show(answer);
    } catch (error) {
      if (signal.aborted) return;
      // Later failures are the line's, which has a mark of its own.
      if (!answered || (error instanceof Refusal && error.status === 404)) {
        trouble?.remove();
        trouble = failure(error, once);
        place.prepend(trouble);
      }
    } finally {
      asking = false;
    }
    if (again) {
      again = false;
      await once();
      return;
    }
    if (seconds && answered) timer = setTimeout(() => document.hidden || once(), seconds * 1000);
  };

  const wake = () => document.hidden || once();
  live.on("again", wake, signal);
  document.addEventListener("visibilitychange", wake, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  once();
  return once;
}
