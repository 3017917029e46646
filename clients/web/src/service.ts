/** The service that has served this page. */

import type { Banqi } from "banqi-client";
import { connect } from "banqi-client/web";
import { signal } from "@preact/signals";

import { keep, kept } from "./keeping";

/** The API key, where the service wants one. */
export const apiKey = signal(kept("api-key") ?? "");

/** Keeps the API key for the next visit as well. */
export function useKey(key: string): void {
  apiKey.value = key;
  keep("api-key", key);
}

/** Whether calls fail for want of an answer, and are sent again. */
export const away = signal(false);

/** Calls go to where the page came from, and nowhere else. */
export const service: Banqi = connect(location.origin, {
  apiKey: () => apiKey.value || undefined,
  onRetry: () => {
    away.value = true;
  },
});
