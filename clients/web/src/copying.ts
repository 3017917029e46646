/** Copying text. */

import { tell } from "./notices";

/** Copies a text, and says so. Browsers have a clipboard on safe origins alone, and the old way elsewhere. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
  } else {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  tell({ key: "copied" });
}
