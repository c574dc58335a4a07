import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { IconButton } from "./button.tsx"

interface DialogProps {
  title: string
  onClose(): void
  children: ComponentChildren
  /** At least 900 px wide where there is room. */
  wide?: boolean
  /** Stays a box on phones instead of filling the screen. */
  small?: boolean
}

/** A modal dialog while it is rendered. Focus goes into it and comes back; Escape and the button in its head close it. */
export function Dialog({ title, onClose, children, wide = false, small = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const before = document.activeElement
    const dialog = element.current!
    dialog.showModal()
    // By itself it would begin with the button that closes it.
    if (!dialog.querySelector("[autofocus]")) dialog.querySelector<HTMLElement>(":is(input, select, textarea):enabled")?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      data-wide={wide || undefined}
      data-small={small || undefined}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}
