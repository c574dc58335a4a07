/**
 * Keys of the whole page in one place: single letters without a modifier, and `g o` for one after the other. They rest while
 * somebody types, while a dialog or a menu is open, and where the preferences switch them off.
 */
import { useEffect, useRef } from "preact/hooks"
import { useMe } from "./me.ts"

/** What a key does; `Escape` and signs by their own names, letters small. */
export type Bindings = Readonly<Record<string, () => void>>

const bound: { current: Bindings }[] = []
/** Within so many milliseconds the second key of two must follow. */
const SECOND_MS = 1_200
let first: { key: string; at: number } | undefined

/** Binds keys while the part of the page is shown. Of two parts that bind the same key the one that came later has it. */
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

/** Typing, and what lies over the page, has its own keys. */
const isElsewhere = (target: EventTarget | null): boolean =>
  (target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))) ||
  document.querySelector("dialog[open], :popover-open") !== null
