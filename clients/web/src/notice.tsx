/** What is said for a moment, where it covers nothing. */

import type { JSX } from "preact";

import { notice } from "./notices";
import { t } from "./text";

export function Notices(): JSX.Element {
  const said = notice.value;
  return (
    <div class="notice" role="status" aria-live="polite">
      {said ? <p key={said.number}>{t(said.key, said.values)}</p> : null}
    </div>
  );
}
