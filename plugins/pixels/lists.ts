import { ArgumentReader, caseKey, refuseArguments, type Site, sortedPage } from "#plugin"
import { KINDS, type Pixel, type PixelsHost } from "./pixel.ts"
import type { Asker, Reports } from "./reports.ts"
import { listPixels } from "./rows.ts"
import { RECENT_DAYS, type shownPixel } from "./shown.ts"

export const SORTS = ["created", "opens", "last_open", "name"] as const
export const STATES = ["active", "archived"] as const
const PAGE = { min: 1, max: 200, default: 50 } as const

export type PixelLists = ReturnType<typeof listsOf>

/** A site's pixels, a page at a time. Deleted ones are in no list. */
export function listsOf({ db }: PixelsHost, reports: Reports, show: (pixel: Pixel) => ReturnType<typeof shownPixel>) {
  return async (site: Site, given: Record<string, unknown>, asker: Asker) => {
    const { q, kind, state, sort, ...paging } = readList(given)
    const part = caseKey(q)
    const found = (await listPixels(db, site.id)).filter(
      (pixel) =>
        [pixel.name, pixel.slug].some((text) => caseKey(text).includes(part)) &&
        (kind === undefined || pixel.kind === kind) &&
        (state === undefined || (state === "archived") === (pixel.archived_at !== null)),
    )
    const list = `pixels ${site.id} ${sort} ${kind ?? ""} ${state ?? ""} ${q}`
    const page = sortedPage(found, (pixel) => placeOf(pixel, sort), { ...paging, list })
    const recent = await reports.recent(site, page.data, RECENT_DAYS, asker)
    const data = page.data.map((pixel) => ({ ...show(pixel), recent: { days: RECENT_DAYS, ...recent.get(pixel.id)! } })) // of all of them
    return { ...page, data }
  }
}

function readList(given: Record<string, unknown>) {
  const reader = new ArgumentReader(given, ["limit", "cursor", "count", "q", "kind", "state", "sort"])
  const limit = reader.integer("limit", PAGE) ?? PAGE.default
  const cursor = reader.text("cursor", { min: 1, max: 1_000 })
  const count = reader.choice("count", ["true", "false"]) === "true"
  const q = reader.text("q", { min: 0, max: 200 }) ?? ""
  const kind = reader.choice("kind", KINDS)
  const state = reader.choice("state", STATES)
  const sort = reader.choice("sort", SORTS) ?? "created"
  refuseArguments(reader, "text")
  return { limit, cursor, count, q, kind, state, sort }
}

/** Names ascending, numbers and moments descending. */
function placeOf(pixel: Pixel, sort: (typeof SORTS)[number]): (number | string)[] {
  if (sort === "name") return [caseKey(pixel.name), pixel.id]
  const keys = { created: pixel.created_at, opens: pixel.opens_total, last_open: pixel.last_open_at ?? 0 }
  return [-keys[sort], -pixel.id]
}
