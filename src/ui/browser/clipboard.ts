import { toast } from "./toasts.ts"

/** Copies a text and returns whether that worked. Without HTTPS, browsers lack the clipboard API but can still copy a selection. */
export async function putIntoClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement
  const field = document.createElement("textarea")
  field.value = text
  field.className = "visually-hidden"
  // Inserted into the open dialog, because the rest of the page can't be selected.
  ;(document.querySelector("dialog[open]") ?? document.body).append(field)
  field.select()
  const isCopied = document.execCommand("copy")
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return isCopied
}

export const CANNOT_COPY = "The browser blocked copying. Select the text and copy it yourself."

/** Copies a text and shows a toast with the result. */
export async function copyText(text: string): Promise<void> {
  toast((await putIntoClipboard(text)) ? "Copied" : CANNOT_COPY)
}
