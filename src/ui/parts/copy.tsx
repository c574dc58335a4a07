import { useState } from "preact/hooks"
import { Button } from "./button.tsx"
import { Field } from "./form/fields.tsx"
import { toast } from "./toasts.tsx"

/** Button that copies a text and confirms it. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <>
      <Button
        icon={copied ? "check" : "copy"}
        onClick={async () => {
          if (!(await putIntoClipboard(text))) return toast(CANNOT_COPY)
          setCopied(true)
          setTimeout(() => setCopied(false), 2_000)
        }}
      >
        {copied ? "Copied" : label}
      </Button>
      <span class="visually-hidden" role="status">
        {copied ? "Copied" : ""}
      </span>
    </>
  )
}

/** A secret in a selected, read-only field with a copy button. It never appears in a URL. */
export function OneTimeSecret({ label, secret, note }: { label: string; secret: string; note: string }) {
  return (
    <div class="joined">
      <Field label={label} note={note}>
        {(described) => (
          <input
            autofocus
            class="input"
            data-code
            readOnly
            autocomplete="off"
            spellcheck={false}
            value={secret}
            {...described}
            onFocus={(event) => event.currentTarget.select()}
          />
        )}
      </Field>
      <CopyButton text={secret} />
    </div>
  )
}

/** Copies a text and returns whether that worked. Without HTTPS, browsers lack the clipboard API but can still copy a selection. */
async function putIntoClipboard(text: string): Promise<boolean> {
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

const CANNOT_COPY = "The browser blocked copying. Select the text and copy it yourself."

/** Copies a text and shows a toast with the result. */
export async function copyText(text: string): Promise<void> {
  toast((await putIntoClipboard(text)) ? "Copied" : CANNOT_COPY)
}

/** Renders code with a copy button. */
export const CodeBlock = ({ text, label }: { text: string; label: string }) => (
  <div class="stack">
    <pre>{text}</pre>
    <div class="row">
      <CopyButton text={text} label={label} />
    </div>
  </div>
)
