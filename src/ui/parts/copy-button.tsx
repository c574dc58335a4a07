import { useState } from "preact/hooks"
import { CANNOT_COPY, putIntoClipboard } from "../browser/clipboard.ts"
import { toast } from "../browser/toasts.ts"
import { Button } from "./button.tsx"

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
