import type { RefObject } from "preact"
import { useEffect, useRef } from "preact/hooks"

/** Focuses the checked or the first item of a menu whose items were loaded after it was opened. */
export function useFirstItem(): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const first = ["[autofocus]", "[aria-checked=true]", "[role^=menuitem]"].map((one) => box.current?.querySelector<HTMLElement>(one))
    first.find((one) => one)?.focus()
  }, [])
  return box
}
