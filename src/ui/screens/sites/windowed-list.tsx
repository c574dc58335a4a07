import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"

interface WindowedListProps<Item> {
  items: readonly Item[]
  /** Height of every row in pixels. */
  rowHeight: number
  keyOf(item: Item): string | number
  children(item: Item): ComponentChildren
}

/** Rows rendered beyond each edge of the screen, for focus and fast scrolling. */
const OVERSCAN = 8

/** Renders a virtual list, of which only the rows near the screen exist. The page itself scrolls; arrow keys move between the rows' links. */
export function WindowedList<Item>({ items, rowHeight, keyOf, children }: WindowedListProps<Item>) {
  const list = useRef<HTMLUListElement>(null)
  const [first, setFirst] = useState(0)
  const count = Math.ceil((typeof innerHeight === "number" ? innerHeight : 0) / rowHeight) + 2 * OVERSCAN
  useEffect(() => {
    const look = () => {
      const top = list.current?.getBoundingClientRect().top ?? 0
      setFirst(Math.max(0, Math.floor(-top / rowHeight) - OVERSCAN))
    }
    look()
    addEventListener("scroll", look, { passive: true })
    addEventListener("resize", look)
    return () => {
      removeEventListener("scroll", look)
      removeEventListener("resize", look)
    }
  }, [rowHeight, items.length])
  return (
    <ul class="site-list" ref={list} style={{ height: `${items.length * rowHeight}px` }} onKeyDown={moveBetweenRows}>
      {items.slice(first, first + count).map((item, index) => (
        <li
          key={keyOf(item)}
          class="site-entry"
          aria-setsize={items.length}
          aria-posinset={first + index + 1}
          style={{ top: `${(first + index) * rowHeight}px`, height: `${rowHeight}px` }}
        >
          {children(item)}
        </li>
      ))}
    </ul>
  )
}

/** Moves the focus between the links of a list's items by arrow keys. */
export function moveBetweenRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const list = event.currentTarget
  if (step === undefined || !(list instanceof HTMLElement)) return
  const links = [...list.querySelectorAll<HTMLElement>("li a")]
  const here = links.findIndex((link) => link.closest("li")?.contains(document.activeElement))
  const next = links[here + step]
  if (here < 0 || !next) return
  event.preventDefault()
  next.focus()
}
