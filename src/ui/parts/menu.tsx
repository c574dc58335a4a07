import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef, useState } from "preact/hooks"

interface PopoverProps {
  /** What the button shows, and its name for assistive technology where that is not text. */
  button: ComponentChildren
  label?: string
  kind?: string
  iconOnly?: boolean
  /** Rendered while it is open; `close` also gives the focus back. */
  children(close: () => void): ComponentChildren
  /** `menu`: keys move between its items, see `menu-keys.ts`. */
  role?: "menu" | "dialog"
  disabled?: boolean
  /** Opened from outside, for keys. */
  openSignal?: number | undefined
}

/** A button with a box below it. The box closes by Escape, by a click elsewhere, and by whatever is chosen in it. */
export function Popover({ button, label, kind = "plain", iconOnly = false, children, role = "menu", disabled, openSignal }: PopoverProps) {
  const [isOpen, setOpen] = useState(false)
  const trigger = useRef<HTMLButtonElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const id = useId()
  useEffect(() => {
    if (openSignal) setOpen(true)
  }, [openSignal])
  useEffect(() => {
    const element = box.current
    if (!isOpen || !element || !trigger.current) return
    element.showPopover()
    place(element, trigger.current)
    firstIn(element).focus()
  }, [isOpen])
  const close = () => {
    setOpen(false)
    trigger.current?.focus()
  }
  return (
    <>
      <button
        ref={trigger}
        type="button"
        class="button"
        data-kind={kind}
        data-icon={iconOnly || undefined}
        aria-label={label}
        title={iconOnly ? label : undefined}
        aria-haspopup={role}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        disabled={disabled}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div
          ref={box}
          id={id}
          class="popover"
          popover="auto"
          role={role}
          aria-label={label}
          tabIndex={-1}
          onToggle={(event) => {
            if ((event as unknown as ToggleEvent).newState === "closed") setOpen(false)
          }}
          onKeyDown={(event) => {
            event.stopPropagation()
            if (event.key === "Escape") {
              event.preventDefault()
              close()
            } else if (role === "menu" && event.key === "Tab") setOpen(false)
          }}
        >
          {children(close)}
        </div>
      )}
    </>
  )
}

/** What gets the focus when a box opens: what asks for it, what is chosen, else the first that can have it. */
const firstIn = (box: HTMLElement): HTMLElement =>
  ["[autofocus]", "[aria-checked=true]", "button, a, input"].map((one) => box.querySelector<HTMLElement>(one)).find((one) => one) ?? box

/** Below the button, moved so far that all of it is on the screen. */
function place(element: HTMLElement, trigger: HTMLElement): void {
  const at = trigger.getBoundingClientRect()
  const { offsetWidth, offsetHeight } = element
  const left = Math.max(8, Math.min(at.left, innerWidth - offsetWidth - 8))
  const below = at.bottom + 4
  const top = below + offsetHeight > innerHeight - 8 ? Math.max(8, at.top - offsetHeight - 4) : below
  element.style.setProperty("left", `${left}px`)
  element.style.setProperty("top", `${top}px`)
}

interface MenuItemProps {
  children: ComponentChildren
  onSelect?: () => void
  href?: string
  /** Of one among several that exclude each other, or of one that `toggles` by itself. */
  checked?: boolean
  toggles?: boolean
  kind?: "danger"
  /** The key that does the same, shown at the end of the row. */
  hint?: string | undefined
}

export function MenuItem({ children, onSelect, href, checked, kind, hint, toggles }: MenuItemProps) {
  const role = checked === undefined ? "menuitem" : toggles ? "menuitemcheckbox" : "menuitemradio"
  const shared = { class: "menu-item", role, "data-kind": kind, tabIndex: -1 } as const
  const shown = (
    <>
      <span>{children}</span>
      {hint && <kbd aria-hidden="true">{hint}</kbd>}
    </>
  )
  return href !== undefined ? (
    <a {...shared} role="menuitem" href={href}>
      {shown}
    </a>
  ) : (
    <button {...shared} role={role} type="button" aria-checked={checked} onClick={onSelect}>
      {shown}
    </button>
  )
}
