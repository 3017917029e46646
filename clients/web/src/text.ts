/** The languages of the page, and the one that is chosen. */

import { computed, effect, signal } from "@preact/signals";

import { cs } from "./languages/cs";
import { el } from "./languages/el";
import type { Key, Language } from "./languages/en";
import { en } from "./languages/en";
import { kk } from "./languages/kk";
import { sv } from "./languages/sv";
import { tr } from "./languages/tr";
import { zhHans } from "./languages/zh-hans";
import { zhHant } from "./languages/zh-hant";
import { kept, keep } from "./keeping";

export type { Key } from "./languages/en";

/** Every language, by its tag, with its own name for itself. */
export const LANGUAGES: readonly { readonly tag: string; readonly name: string; readonly texts: Language }[] = [
  { tag: "en", name: "English", texts: en },
  { tag: "zh-Hant", name: "繁體中文", texts: zhHant },
  { tag: "zh-Hans", name: "简体中文", texts: zhHans },
  { tag: "tr", name: "Türkçe", texts: tr },
  { tag: "el", name: "Ελληνικά", texts: el },
  { tag: "sv", name: "Svenska", texts: sv },
  { tag: "cs", name: "Čeština", texts: cs },
  { tag: "kk", name: "Қазақша", texts: kk },
];

/** The tag of the chosen language: as it was chosen, or as the browser wants it. */
export const language = signal(kept("language") ?? preferred(navigator.languages));

const texts = computed(() => (LANGUAGES.find(({ tag }) => tag === language.value) ?? LANGUAGES[0]!).texts);

effect(() => {
  document.documentElement.lang = language.value;
});

/** Chooses a language, for the next visit as well. */
export function choose(tag: string): void {
  language.value = tag;
  keep("language", tag);
}

/** A text, with what goes into it. */
export function t(key: Key, values: Readonly<Record<string, string | number>> = {}): string {
  return texts.value[key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

function preferred(wanted: readonly string[]): string {
  for (const tag of wanted) {
    const lower = tag.toLowerCase();
    if (lower.startsWith("zh")) {
      return /hant|tw|hk|mo/.test(lower) ? "zh-Hant" : "zh-Hans";
    }
    const found = LANGUAGES.find((language) => lower.split("-")[0] === language.tag);
    if (found) {
      return found.tag;
    }
  }
  return "en";
}
