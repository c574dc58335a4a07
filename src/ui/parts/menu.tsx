import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef, useState } from "preact/hooks"

interface PopoverProps {
  /** Content of the button. `label` is its accessible name if the content is not text. */
  button: ComponentChildren
  label?: string
  kind?: string
  iconOnly?: boolean
  /** Renders the content while open. `close` also returns the focus to the button. */
  children(close: () => void): ComponentChildren
  /** ARIA role. Keys move between the items of a `menu`, see `menu-keys.ts`. */
  role?: "menu" | "dialog"
  disabled?: boolean
  /** Opens the popover whenever the number changes, for keyboard shortcuts. */
  openSignal?: number | undefined
}

/** A button with a popover below it, which closes on Escape, on a click elsewhere and on a selection. */
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
    const button = trigger.current
    element.showPopover()
    place(element, button)
    firstIn(element).focus()
    // Repositions the popover when items that load later make it larger.
    const resized = new ResizeObserver(() => place(element, button))
    resized.observe(element)
    return () => resized.disconnect()
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

/** Returns the element to focus when a popover opens: one with autofocus, the checked one, or the first control. */
const firstIn = (box: HTMLElement): HTMLElement =>
  ["[autofocus]", "[aria-checked=true]", "button, a, input"].map((one) => box.querySelector<HTMLElement>(one)).find((one) => one) ?? box

/** Positions the popover below the button, within the screen. */
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
  /** Whether the item is checked: one of several radio items, or a checkbox item with `toggles`. */
  checked?: boolean
  toggles?: boolean
  kind?: "danger"
  /** Keyboard shortcut, shown at the end of the item. */
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
