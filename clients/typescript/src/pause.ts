/** Waits so many milliseconds, or until the signal is given, which is no error. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) {
      end();
    }
  });
}
