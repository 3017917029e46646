/** The rule sets that have a name. */

import type { Preset, RuleSet } from "banqi-client";
import { equals, RuleSetSchema } from "banqi-client";
import { signal } from "@preact/signals";

import { away, service } from "./service";
import type { Key } from "./text";
import { t } from "./text";

/** Every preset, once the service has told them. */
export const presets = signal<readonly Preset[]>([]);

/** Asks for them, unless they are there. */
export async function loadPresets(): Promise<void> {
  if (presets.value.length === 0) {
    presets.value = (await service.rules.listPresets({})).presets;
    away.value = false;
  }
}

/** The name of a game's rules; none for a mixture of one's own. */
export function nameOf(rules: RuleSet | undefined): string | undefined {
  return rules && presets.value.find((preset) => preset.rules && equals(RuleSetSchema, preset.rules, rules))?.name;
}

/** What a preset is called, in a few words. */
export function shortName(preset: string): string {
  return split(preset)[0];
}

/** What sets a preset apart; nothing where its name says it. */
export function about(preset: string): string {
  return split(preset)[1];
}

/** Both stand in one text, with a colon between them. */
function split(preset: string): [string, string] {
  const [, name, rest] = /^([^:：]*)[:：]?\s*(.*)$/.exec(t(`preset${preset}` as Key))!;
  return [name!, rest!];
}
