// All rules of the tool, less those below; each with the reason.
import { createRequire } from "node:module";

// The packages are kept beside the other tools, not beside this file.
const js = createRequire(new URL("../../.cache/dashboard/", import.meta.url))("@eslint/js");

const off = (...names) => Object.fromEntries(names.map((name) => [name, "off"]));

export default [
  {
    ...js.configs.all,
    files: ["**/*.js"],
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...js.configs.all.rules,
      // The compiler knows names, and what is used before it has a value.
      ...off("no-undef", "no-use-before-define", "init-declarations"),
      // Size and shape are judged by readers, as for Python.
      ...off("complexity", "max-lines", "max-lines-per-function", "max-params", "max-statements", "max-classes-per-file"),
      ...off("curly", "func-style", "no-continue", "no-inline-comments", "no-negated-condition", "no-nested-ternary", "no-ternary"),
      ...off("one-var", "prefer-named-capture-group", "sort-imports", "sort-keys", "capitalized-comments"),
      // Numbers have a meaning beside them; the API's fields have underlines.
      ...off("id-length", "no-magic-numbers", "no-undefined", "camelcase"),
      // Asking again and again is one after the other, by intent.
      ...off("no-await-in-loop"),
      // It takes a flag that guards a wait for a value that the wait made old.
      ...off("require-atomic-updates"),
    },
  },
];
