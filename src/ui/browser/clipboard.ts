import { toast } from "./toasts.ts"

/** Whether the text is in the clipboard now. Without https browsers lack the modern way, but still copy what is selected. */
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
  // Inside of an open dialog: the rest of the page cannot be selected.
  ;(document.querySelector("dialog[open]") ?? document.body).append(field)
  field.select()
  const isCopied = document.execCommand("copy")
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return isCopied
}

export const CANNOT_COPY = "The browser did not allow to copy. Select the text and copy it."

/** Copies and says so, or what to do instead. */
export async function copyText(text: string): Promise<void> {
  toast((await putIntoClipboard(text)) ? "Copied" : CANNOT_COPY)
}
