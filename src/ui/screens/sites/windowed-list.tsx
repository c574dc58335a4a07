import { useQueryClient } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { Link } from "wouter"
import type { ListedSiteResponse } from "../../../domain/site-response.ts"
import { put, remove } from "../../api/api.ts"
import { IconButton } from "../../parts/button.tsx"
import { Change } from "../../parts/change.tsx"
import { errorText } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { Sparkline } from "../../parts/values.tsx"
import { exact, short } from "../../text/format.ts"
import { TruncatedText, visible } from "../../text/safe-text.tsx"
import { troubleOf } from "./site-list.ts"

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

interface SiteEntryProps {
  site: ListedSiteResponse
  isCounting: boolean
}

/** Renders a site in the list or grid. The style sheet arranges the same parts as a row or a box. */
export function SiteEntry({ site, isCounting }: SiteEntryProps) {
  const { id, name, hosts, current_visitors, visitors, visitors_by_day, change_percent } = site
  const trouble = troubleOf(site, Date.now())
  return (
    <>
      <div class="site-entry-name">
        <Link href={`/sites/${id}`} class="site-entry-link">
          <TruncatedText text={name} />
        </Link>
        <span class="small quiet">
          <TruncatedText text={hosts.join(", ")} />
        </span>
      </div>
      <span class="small quiet site-entry-now">
        <span class="dot" data-state={current_visitors > 0 ? "on" : "quiet"} />
        {short(current_visitors)} online
      </span>
      <div class="site-entry-spark">
        {visitors_by_day ? (
          <Sparkline values={visitors_by_day} label={`${visible(name)}, visitors in the last 7 days`} />
        ) : (
          <span class="small quiet">{isCounting ? "" : "n/a"}</span>
        )}
      </div>
      <div class="site-entry-figure">
        <strong title={exact(visitors)}>{short(visitors)}</strong>
        <span class="small">{visitors !== undefined && <Change metric="visitors" change={change_percent} value={visitors} />}</span>
      </div>
      <PinButton site={site} />
      {trouble && (
        <span class="small site-entry-trouble">
          <span class="dot" data-state="warn" />
          {trouble}
        </span>
      )}
    </>
  )
}

function PinButton({ site: { id, name, pinned } }: { site: ListedSiteResponse }) {
  const client = useQueryClient()
  const label = `${pinned ? "Unpin" : "Pin"} ${visible(name)}`
  const toggle = async () => {
    const path = `/api/private/sites/${id}/pin`
    try {
      await (pinned ? remove(path) : put(path, {}))
      await client.invalidateQueries({ queryKey: ["sites"] })
    } catch (error) {
      toast(errorText(error as Error))
    }
  }
  return <IconButton icon="pin" label={label} aria-pressed={pinned} onClick={toggle} />
}
