/** The rules in a few sentences. */

import type { JSX } from "preact";

import { t } from "./text";

export function HowTo(): JSX.Element {
  return (
    <details class="how-to">
      <summary>{t("howTo")}</summary>
      <ol>
        {(["howTo1", "howTo2", "howTo3", "howTo4", "howTo5"] as const).map((key) => (
          <li key={key}>{t(key)}</li>
        ))}
      </ol>
    </details>
  );
}
