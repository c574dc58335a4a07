import { FIXED_NAMES } from "../domain/dimension.ts"
import type { PathAnchor, PathNode, PathsQuery } from "../domain/query.ts"
import type { Dictionary, Snapshot } from "../store/events/part.ts"

/** What journeys are made of: numbers of pages, or of groups of them, and above these numbers of event names. */
export interface PathItems {
  /** By number of the page. */
  ofPage: Int32Array
  /** By number of the event name; undefined when events are no items. */
  ofName: Int32Array | undefined
  /** Undefined when no event of the site ever was it. */
  anchor: number | undefined
  /** By column ascending. An item the site never had is one that no path takes. */
  pins: readonly { column: number; item: number }[]
  shown(item: number): Pick<PathNode, "kind" | "value">
}

const NOBODY = -2

export function pathItems(snapshot: Snapshot, { anchor, pins, group, collapseQuery, withEvents }: PathsQuery): PathItems {
  const [pages, names] = [snapshot.dictionary("page"), snapshot.dictionary("name")]
  const shownPage = pageShower(group, collapseQuery)
  const grouped = groupedPages(pages, shownPage)
  const ofName = withEvents ? Int32Array.from({ length: names.size }, (_, id) => grouped.values.length + id) : undefined
  const numberOf = ({ kind, value }: PathAnchor): number | undefined => {
    if (kind === "page") return grouped.numbers.get(shownPage(value))
    const id = names.find(value)
    return id === undefined || id < FIXED_NAMES.length ? undefined : ofName?.[id]
  }
  return {
    ofPage: grouped.ofPage,
    ofName,
    anchor: numberOf(anchor),
    pins: pins.map(({ column, ...pin }) => ({ column, item: numberOf(pin) ?? NOBODY })).sort((a, b) => a.column - b.column),
    shown: (item) =>
      item < grouped.values.length
        ? { kind: "page", value: grouped.values[item]! }
        : { kind: "event", value: names.text(item - grouped.values.length) },
  }
}

/** How a page is called. A directory is what stands before the second slash: `/blog/*` for all below it. */
function pageShower(group: PathsQuery["group"], collapseQuery: boolean): (page: string) => string {
  const plain = (page: string) => (collapseQuery ? page.split("?", 1)[0]! : page)
  if (group === "page") return plain
  return (page) => {
    const [, directory] = /^(\/[^/?#]*)\//.exec(plain(page)) ?? []
    return directory === undefined ? plain(page) : `${directory}/*`
  }
}

/** Pages of one name are one item. */
function groupedPages(pages: Dictionary, shownPage: (page: string) => string) {
  const numbers = new Map<string, number>()
  const values: string[] = []
  const ofPage = Int32Array.from({ length: Math.max(1, pages.size) }, (_, id) => {
    const value = shownPage(pages.text(id))
    const known = numbers.get(value)
    if (known !== undefined) return known
    numbers.set(value, values.length)
    values.push(value)
    return values.length - 1
  })
  return { ofPage, numbers, values }
}
