/**
 * Where somebody stood on the pages that lie behind and ahead: the address brings back what they showed, this how far it was
 * scrolled and what had the focus. Browsers without a list of the visited entries only scroll.
 */
import { standing, takes } from "./focus.ts"

interface Place {
  top: number
  /** The innermost first. */
  focused: readonly Told[]
}

/** An element as it can be found again on the same page, drawn anew. */
interface Told {
  tag: string
  name: string
  /** Among those of the same name. */
  index: number
}

const KEY = "footfall.places"
const MOST = 50
/** So long is waited for what a page still loads. */
const LONGEST_MS = 5_000

/** Places are kept for as long as the tab is there, also while it shows another document. */
const places = new Map<string, Place>(stored())

/** Remembers places from now on, and goes back to them. */
export function keepPlaces(): void {
  const { navigation } = window
  if (!navigation) return
  navigation.addEventListener("navigate", keep)
  addEventListener("pagehide", keep)
  navigation.addEventListener("currententrychange", ({ navigationType, from }) => {
    if (navigationType === "traverse") goBackTo(navigation.currentEntry?.key)
    else if (pageOf(from.url) !== pageOf(location.href)) scrollTo(0, 0)
  })
  if (navigation.activation?.navigationType === "traverse") goBackTo(navigation.currentEntry?.key)
}

/** Details lie over the page that they are of. */
const pageOf = (url: string | null): string => new URL(url ?? "/", location.href).pathname.replace(/\/details\/.*/, "")

function keep(): void {
  const key = navigation.currentEntry?.key
  if (key === undefined) return
  places.delete(key)
  places.set(key, { top: scrollY, focused: standing().map(toldOf) })
  for (const old of [...places.keys()].slice(0, -MOST)) places.delete(old)
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...places]))
  } catch {
    // Storage may be forbidden or full; this document knows its places all the same.
  }
}

function stored(): [string, Place][] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as [string, Place][] // written above
  } catch {
    return []
  }
}

let going = new AbortController()

/** As soon as the page has what it had; whoever does something meanwhile is left alone. */
function goBackTo(key: string | undefined): void {
  going.abort()
  const place = key === undefined ? undefined : places.get(key)
  if (!place) return
  going = new AbortController()
  const { signal } = going
  const end = () => going.abort()
  for (const type of ["keydown", "pointerdown", "wheel", "touchmove"]) addEventListener(type, end, { capture: true, passive: true, signal })
  const begun = performance.now()
  let wanted = place.focused
  const look = () => {
    if (signal.aborted) return
    const isLast = !document.querySelector(".skeleton, .progress-line, [aria-busy=true]") || performance.now() - begun > LONGEST_MS
    scrollTo(0, place.top)
    // Behind a dialog only where the dialog does not come back.
    if (wanted.slice(0, isLast ? undefined : 1).some((told) => takes(found(told), { preventScroll: true }))) wanted = []
    if (isLast) end()
    else requestAnimationFrame(look)
  }
  // What the new address asks for is drawn a frame later.
  requestAnimationFrame(() => requestAnimationFrame(look))
}

const nameOf = (element: Element): string => element.ariaLabel ?? element.textContent ?? ""
const named = (tag: string, name: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(tag)].filter((element) => nameOf(element) === name)

function toldOf(element: HTMLElement): Told {
  const [tag, name] = [element.localName, nameOf(element)]
  return { tag, name, index: named(tag, name).indexOf(element) }
}

const found = ({ tag, name, index }: Told): HTMLElement | null => named(tag, name)[index] ?? null
