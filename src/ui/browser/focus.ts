/** The focus never falls out of the page: where what has it goes away, what stands in its place gets it. */

/** An element with its place in the page, which can still be told when the element is gone. */
interface Stand {
  element: HTMLElement
  /** From the innermost: what it stood in, and as which of the children. */
  places: readonly { parent: Element; index: number }[]
}

const OVER_THE_PAGE = "dialog, [popover]"
const CONTROLS = "a[href], button:not(:disabled), summary, [tabindex='0']"

/** What has the focus, or had it until it went away. */
let here: Stand | undefined
/** The same outside of dialogs and menus: it is where those lead back to. */
let behind: Stand | undefined

/** Elements where a person stands on the page, the innermost first: in the dialog or menu that is open, and behind it. */
export const standing = (): HTMLElement[] => [here, behind].flatMap((stand) => (stand?.element.isConnected ? [stand.element] : []))

/** Watches the page from now on. */
export function keepFocus(): void {
  addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    here = standOf(target)
    if (!target.closest(OVER_THE_PAGE)) behind = here
  })
  // Whoever points at nothing wants the focus nowhere.
  addEventListener("pointerdown", ({ target }) => {
    if (!(target instanceof Element) || document.activeElement?.contains(target)) return
    here = undefined
    if (!target.closest(OVER_THE_PAGE)) behind = undefined
  })
  let isDue = false
  new MutationObserver(() => {
    if (isDue || !isLost()) return
    isDue = true
    // Whatever has a wish of its own, such as a field that comes in the same moment, has it first.
    requestAnimationFrame(() => {
      isDue = false
      if (isLost()) catchFocus()
    })
  }).observe(document.body, { childList: true, subtree: true })
}

/** Forms that lead to a page of somebody who is signed in, which is loaded anew. */
const ENTRANCES = /^\/(setup|signin|invite)(\/|$)/

/** What such a form leads to begins at its heading, as soon as that is there: in a new document nothing has the focus. */
export function beginAtHeading(): void {
  const { activation } = window.navigation ?? {}
  if (activation?.navigationType !== "push" || !ENTRANCES.test(pathOf(activation.from?.url))) return
  if (document.activeElement !== document.body) return
  const ends = new AbortController()
  // Whoever does something meanwhile is left alone.
  for (const type of ["keydown", "pointerdown", "focusin"]) addEventListener(type, () => ends.abort(), { signal: ends.signal })
  const look = () => {
    const heading = document.querySelector<HTMLElement>("main h1")
    if (ends.signal.aborted || !heading) return
    heading.tabIndex = -1
    takes(heading, { preventScroll: true })
    ends.abort()
  }
  const watch = new MutationObserver(look)
  ends.signal.addEventListener("abort", () => watch.disconnect())
  watch.observe(document.body, { childList: true, subtree: true })
  look()
}

const pathOf = (url: string | null | undefined): string => (url ? new URL(url).pathname : "")

/** Not where somebody has gone on to the browser's own bars. */
const isLost = (): boolean => here?.element.isConnected === false && document.activeElement === document.body && document.hasFocus()

function catchFocus(): void {
  const open = [...document.querySelectorAll("dialog[open]")].at(-1)
  const tried = [...controlsAt(here, open ?? document.body), ...standing(), ...controlsAt(behind, document.body)]
  for (const control of tried) if (takes(control)) return
  takes(open?.querySelector<HTMLElement>(CONTROLS) ?? document.getElementById("main"), { preventScroll: true })
}

/** Gives the focus, if the element can have it. */
export function takes(element: HTMLElement | null, options?: FocusOptions): boolean {
  element?.focus(options)
  return element !== null && document.activeElement === element
}

const standOf = (element: HTMLElement): Stand => {
  const places: { parent: Element; index: number }[] = []
  // A dialog or a menu goes as a whole: what lies around it is not near to what was in it.
  for (let child: Element = element; child.parentElement && !child.matches(OVER_THE_PAGE); child = child.parentElement)
    places.push({ parent: child.parentElement, index: [...child.parentElement.children].indexOf(child) })
  return { element, places }
}

/** Controls around where something stood, the best first: what took its place, what follows, what was before. Of another page none. */
function controlsAt(stand: Stand | undefined, within: Element): HTMLElement[] {
  const kept = stand?.places.filter(
    ({ parent }) => parent.isConnected && within.contains(parent) && parent.closest("main, header, nav, dialog"),
  )
  return (kept ?? []).flatMap(({ parent, index }) => {
    const children = [...parent.children]
    const before = children.slice(0, index)
    // A group begins with what it is about; in a list the neighbour is the nearest.
    const ordered = [...children.slice(index), ...(parent.role === "group" ? before : before.reverse())]
    return ordered.flatMap((child) => [...(child.matches(CONTROLS) ? [child] : []), ...child.querySelectorAll(CONTROLS)]) as HTMLElement[]
  })
}
