/** Features that are loaded after the first view: focus, menu keys, scroll restoration and printing. */
import { focusHeading, keepFocus } from "./browser/focus.ts"
import { restoreScroll } from "./browser/scroll-positions.ts"

keepFocus()
focusHeading()
handleMenuKeys()
restoreScroll()
printInLight()

const ITEM = "[role^=menuitem]"
const FIELDS = "input, select, textarea"
/** Maximum time between letters that are searched for together, in milliseconds. */
const TYPING_MS = 500
let typed = { text: "", at: 0 }

/**
 * Starts handling keys in all menus by the ARIA menu pattern: arrows wrap around, Home and End move to the ends, letters to the next
 * item that starts with them.
 */
function handleMenuKeys(): void {
  // Uses the capture phase, because menus stop the propagation of their keys.
  addEventListener("keydown", moveBetweenItems, true)
}

function moveBetweenItems(event: KeyboardEvent): void {
  const menu = event.target instanceof Element ? event.target.closest("[role=menu]") : null
  if (!menu || event.ctrlKey || event.metaKey || event.altKey) return
  const items = [...menu.querySelectorAll<HTMLElement>(ITEM)]
  const here = items.indexOf(document.activeElement as HTMLElement) // -1 if no item has the focus
  const isTyping = document.activeElement?.matches(FIELDS) === true
  const wanted =
    itemByArrow(event.key, items, here) ?? (isTyping ? undefined : (itemAtEnd(event.key, items) ?? itemTyped(event, items, here)))
  if (!wanted) return
  event.preventDefault()
  wanted.focus()
}

function itemByArrow(key: string, items: readonly HTMLElement[], here: number): HTMLElement | undefined {
  if (key === "ArrowDown") return items[(here + 1) % items.length]
  return key === "ArrowUp" ? items.at(here < 0 ? -1 : here - 1) : undefined
}

const itemAtEnd = (key: string, items: readonly HTMLElement[]): HTMLElement | undefined =>
  key === "Home" ? items[0] : key === "End" ? items.at(-1) : undefined

function itemTyped({ key, timeStamp }: KeyboardEvent, items: readonly HTMLElement[], here: number): HTMLElement | undefined {
  if (key.length !== 1 || key === " ") return undefined
  const text = (timeStamp - typed.at < TYPING_MS ? typed.text : "") + key.toLowerCase()
  typed = { text, at: timeStamp }
  // A second letter may match the item that the first one selected.
  const from = text.length > 1 ? Math.max(0, here) : here + 1
  return [...items.slice(from), ...items.slice(0, from)].find((item) => item.textContent?.trim().toLowerCase().startsWith(text))
}

/** Switches the page to the light theme while it is printed, because the canvas of a chart does not follow the print style sheet. */
function printInLight(): void {
  const { dataset } = document.documentElement
  let { theme } = dataset
  addEventListener("beforeprint", () => {
    theme = dataset.theme
    dataset.theme = "light"
  })
  addEventListener("afterprint", () => {
    if (theme !== undefined) dataset.theme = theme
  })
}
