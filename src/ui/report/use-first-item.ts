import type { RefObject } from "preact"
import { useEffect, useRef } from "preact/hooks"

/** Focuses the first item of a menu whose items were loaded after it was opened. */
export function useFirstItem(): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.querySelector<HTMLElement>("[role^=menuitem]")?.focus(), [])
  return box
}
