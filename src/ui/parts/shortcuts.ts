/**
 * Keyboard shortcuts of the page: single letters without modifiers, and sequences such as `g o`. They are off while the user types,
 * while a dialog or menu is open, and if the preferences disable them.
 */
import { useEffect, useRef } from "preact/hooks"
import { useMe } from "../api/session.ts"

/** Actions by key. Letters are lower case, other keys have their DOM names, such as `Escape`. */
type Bindings = Readonly<Record<string, () => void>>

const bound: { current: Bindings }[] = []
/** Maximum time between the two keys of a sequence, in milliseconds. */
const SECOND_MS = 1_200
let first: { key: string; at: number } | undefined

/** Binds keys while the component is mounted. If two components bind the same key, the later one receives it. */
export function useKeys(bindings: Bindings): void {
  const isOn = useMe()?.user.shortcuts !== false
  const latest = useRef(bindings)
  latest.current = bindings
  useEffect(() => {
    if (!isOn) return
    if (bound.length === 0) document.addEventListener("keydown", onKey)
    bound.push(latest)
    return () => {
      bound.splice(bound.indexOf(latest), 1)
      if (bound.length === 0) document.removeEventListener("keydown", onKey)
    }
  }, [isOn])
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isElsewhere(event.target)) return
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  const isSecond = first !== undefined && event.timeStamp - first.at < SECOND_MS
  const name = isSecond ? `${first?.key} ${key}` : key
  first = undefined
  const act = actOf(name)
  if (act) {
    event.preventDefault()
    act()
  } else if (!isSecond && bound.some(({ current }) => Object.keys(current).some((one) => one.startsWith(`${key} `))))
    first = { key, at: event.timeStamp }
}

function actOf(name: string): (() => void) | undefined {
  return bound.findLast(({ current }) => Object.hasOwn(current, name))?.current[name]
}

/** Returns whether the user is typing, or a dialog or menu is open. */
const isElsewhere = (target: EventTarget | null): boolean =>
  (target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))) ||
  document.querySelector("dialog[open], :popover-open") !== null
