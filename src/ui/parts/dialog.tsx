import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { IconButton } from "./button.tsx"

interface DialogProps {
  title: string
  onClose(): void
  children: ComponentChildren
  /** Whether the dialog is at least 900 px wide if there is space. */
  wide?: boolean
  /** Whether the dialog stays a box on phones instead of filling the screen. */
  small?: boolean
  /** Whether the dialog is a drawer at the right edge. */
  drawer?: boolean
}

/** A modal dialog, open while it is rendered. It takes the focus and returns it; Escape and the close button close it. */
export function Dialog({ title, onClose, children, wide = false, small = false, drawer = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const before = document.activeElement
    const dialog = element.current!
    dialog.showModal()
    // Otherwise the browser would focus the close button.
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
      data-drawer={drawer || undefined}
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
