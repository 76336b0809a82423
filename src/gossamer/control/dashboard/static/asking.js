// Asking again and again, as long as a page is shown and looked at.

import { failure } from "./notices.js";

/**
 * Asks now, every `seconds`, and when the line is back; shows each answer. Where the first question
 * fails, `place` says so. Gives a function that asks at once.
 */
export function keepAsking({ live, signal }, place, seconds, ask, show) {
  let answered = false;
  let timer = 0;
  let asking = false;
  let again = false;
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
      if (!answered || error.status === 404) {
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
  live.addEventListener("again", wake, { signal });
  document.addEventListener("visibilitychange", wake, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  once();
  return once;
}
