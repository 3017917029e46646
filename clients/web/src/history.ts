/** What has been played, without what was taken back. */

import type { ActionRecord, LogEntry } from "banqi-client";

/** The records that count, in order, after one more entry of the log. */
export function after(records: readonly ActionRecord[], { event }: LogEntry): readonly ActionRecord[] {
  switch (event.case) {
    case "played":
      return [...records, event.value];
    case "takebackAnswered":
      return records.slice(0, records.length - event.value.undoneActions);
    default:
      return records;
  }
}

/** The records that count of a whole log. */
export function ofLog(log: readonly LogEntry[]): readonly ActionRecord[] {
  return log.reduce<readonly ActionRecord[]>(after, []);
}
