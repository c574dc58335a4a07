/** Keeps the keyboard focus on the page: when the focused element is removed, the element in its place gets the focus. */

/** An element with its position in the page, which stays known after the element was removed. */
interface FocusedElement {
  element: HTMLElement
  /** Ancestors from the innermost, each with the index of the child that led to the element. */
  places: readonly { parent: Element; index: number }[]
}

const OVER_THE_PAGE = "dialog, [popover]"
const CONTROLS = "a[href], button:not(:disabled), summary, [tabindex='0']"

/** The focused element, or the last one if it was removed. */
let focused: FocusedElement | undefined
/** The last focused element outside of dialogs and menus, to which the focus returns when they close. */
let focusedBehind: FocusedElement | undefined

/** Returns the focused elements that still exist: in the open dialog or menu, then behind it. */
export const focusedElements = (): HTMLElement[] =>
  [focused, focusedBehind].flatMap((stand) => (stand?.element.isConnected ? [stand.element] : []))

/** Starts watching the focus. */
export function keepFocus(): void {
  addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    focused = locate(target)
    if (!target.closest(OVER_THE_PAGE)) focusedBehind = focused
  })
  // A click on an empty area deliberately removes the focus.
  addEventListener("pointerdown", ({ target }) => {
    if (!(target instanceof Element) || document.activeElement?.contains(target)) return
    focused = undefined
    if (!target.closest(OVER_THE_PAGE)) focusedBehind = undefined
  })
  let isDue = false
  new MutationObserver(() => {
    if (isDue || !isLost()) return
    isDue = true
    // Waits a frame, so that an element with its own autofocus takes precedence.
    requestAnimationFrame(() => {
      isDue = false
      if (isLost()) recoverFocus()
    })
  }).observe(document.body, { childList: true, subtree: true })
}

/** Pages whose forms sign the user in and then load a new document. */
const SIGN_IN_PAGES = /^\/(setup|signin|invite)(\/|$)/

/** Focuses the heading of the page after such a form, once it is drawn, because nothing has the focus in a new document. */
export function focusHeading(): void {
  const { activation } = window.navigation ?? {}
  if (activation?.navigationType !== "push" || !SIGN_IN_PAGES.test(pathOf(activation.from?.url))) return
  if (document.activeElement !== document.body) return
  const ends = new AbortController()
  // Stops as soon as the user does something.
  for (const type of ["keydown", "pointerdown", "focusin"]) addEventListener(type, () => ends.abort(), { signal: ends.signal })
  const look = () => {
    const heading = document.querySelector<HTMLElement>("main h1")
    if (ends.signal.aborted || !heading) return
    heading.tabIndex = -1
    tryFocus(heading, { preventScroll: true })
    ends.abort()
  }
  const watch = new MutationObserver(look)
  ends.signal.addEventListener("abort", () => watch.disconnect())
  watch.observe(document.body, { childList: true, subtree: true })
  look()
}

const pathOf = (url: string | null | undefined): string => (url ? new URL(url).pathname : "")

/** Returns whether the focus was lost, but not moved to the browser's own controls. */
const isLost = (): boolean => focused?.element.isConnected === false && document.activeElement === document.body && document.hasFocus()

function recoverFocus(): void {
  const open = [...document.querySelectorAll("dialog[open]")].at(-1)
  const tried = [...controlsAt(focused, open ?? document.body), ...focusedElements(), ...controlsAt(focusedBehind, document.body)]
  for (const control of tried) if (tryFocus(control)) return
  tryFocus(open?.querySelector<HTMLElement>(CONTROLS) ?? document.getElementById("main"), { preventScroll: true })
}

/** Focuses an element and returns whether that worked. */
export function tryFocus(element: HTMLElement | null, options?: FocusOptions): boolean {
  element?.focus(options)
  return element !== null && document.activeElement === element
}

const locate = (element: HTMLElement): FocusedElement => {
  const places: { parent: Element; index: number }[] = []
  // A dialog or menu is removed as a whole, and the elements around it are unrelated to its contents.
  for (let child: Element = element; child.parentElement && !child.matches(OVER_THE_PAGE); child = child.parentElement)
    places.push({ parent: child.parentElement, index: [...child.parentElement.children].indexOf(child) })
  return { element, places }
}

/** Returns controls near a removed element, best first: its replacement, those after it, those before it. None if the page has changed. */
function controlsAt(stand: FocusedElement | undefined, within: Element): HTMLElement[] {
  const remaining = stand?.places.filter(
    ({ parent }) => parent.isConnected && within.contains(parent) && parent.closest("main, header, nav, dialog"),
  )
  return (remaining ?? []).flatMap(({ parent, index }) => {
    const children = [...parent.children]
    const before = children.slice(0, index)
    // A group starts with its main control; in a list the adjacent entry is the nearest.
    const ordered = [...children.slice(index), ...(parent.role === "group" ? before : before.reverse())]
    return ordered.flatMap((child) => [...(child.matches(CONTROLS) ? [child] : []), ...child.querySelectorAll(CONTROLS)]) as HTMLElement[]
  })
}
