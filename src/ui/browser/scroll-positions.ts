/**
 * Restores scroll position and focus when the user goes back or forward. The URL restores the content. Browsers without the
 * Navigation API only restore the scroll position.
 */
import { focusedElements, tryFocus } from "./focus.ts"

interface ScrollPosition {
  top: number
  /** Focused elements, innermost first. */
  focused: readonly ElementDescription[]
}

/** Description by which an element is found again after the page was redrawn. */
interface ElementDescription {
  tag: string
  name: string
  /** Index among the elements of the same name. */
  index: number
}

const KEY = "footfall.places"
const MAX_POSITIONS = 50
/** Maximum time to wait for a page that is still loading. */
const MIN_WAIT_MS = 1_500
const MAX_WAIT_MS = 5_000

/** Positions by history entry. They last as long as the tab, also across documents. */
const positions = new Map<string, ScrollPosition>(readPositions())

/** Starts remembering and restoring positions. */
export function restoreScroll(): void {
  const { navigation } = window
  if (!navigation) return
  navigation.addEventListener("navigate", savePosition)
  addEventListener("pagehide", savePosition)
  navigation.addEventListener("currententrychange", ({ navigationType, from }) => {
    if (navigationType === "traverse") restorePosition(navigation.currentEntry?.key)
    else if (pageOf(from.url) !== pageOf(location.href)) scrollTo(0, 0)
  })
  if (navigation.activation?.navigationType === "traverse") restorePosition(navigation.currentEntry?.key)
}

/** Returns the page of a URL. A details dialog belongs to the page below it. */
const pageOf = (url: string | null): string => new URL(url ?? "/", location.href).pathname.replace(/\/details\/.*/, "")

function savePosition(): void {
  const key = navigation.currentEntry?.key
  if (key === undefined) return
  positions.delete(key)
  positions.set(key, { top: scrollY, focused: focusedElements().map(describe) })
  for (const old of [...positions.keys()].slice(0, -MAX_POSITIONS)) positions.delete(old)
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...positions]))
  } catch {
    // Storage may be forbidden or full; within this document positions still work.
  }
}

function readPositions(): [string, ScrollPosition][] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as [string, ScrollPosition][] // written above
  } catch {
    return []
  }
}

let restoring = new AbortController()

/** Restores a position once the page has loaded its content. Stops if the user does something. */
function restorePosition(key: string | undefined): void {
  restoring.abort()
  const place = key === undefined ? undefined : positions.get(key)
  if (!place) return
  restoring = new AbortController()
  const { signal } = restoring
  const end = () => restoring.abort()
  for (const type of ["keydown", "pointerdown", "wheel", "touchmove"]) addEventListener(type, end, { capture: true, passive: true, signal })
  const startedAt = performance.now()
  let wanted = place.focused
  const look = () => {
    if (signal.aborted) return
    const waited = performance.now() - startedAt
    // Cards are drawn after the figures: for a moment nothing loads although more is to come.
    const isDrawn = (wanted.length === 0 || waited > MIN_WAIT_MS) && !document.querySelector(".skeleton, .progress-line, [aria-busy=true]")
    const isLast = isDrawn || waited > MAX_WAIT_MS
    scrollTo(0, place.top)
    // The element behind a dialog gets the focus only if the dialog does not open again.
    if (wanted.slice(0, isLast ? undefined : 1).some((description) => tryFocus(find(description), { preventScroll: true }))) wanted = []
    if (isLast) end()
    else requestAnimationFrame(look)
  }
  // The content of the new URL is drawn one frame later.
  requestAnimationFrame(() => requestAnimationFrame(look))
}

const nameOf = (element: Element): string => element.ariaLabel ?? element.textContent ?? ""
const elementsNamed = (tag: string, name: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(tag)].filter((element) => nameOf(element) === name)

function describe(element: HTMLElement): ElementDescription {
  const [tag, name] = [element.localName, nameOf(element)]
  return { tag, name, index: elementsNamed(tag, name).indexOf(element) }
}

const find = ({ tag, name, index }: ElementDescription): HTMLElement | null => elementsNamed(tag, name)[index] ?? null
