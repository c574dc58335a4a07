import { caseKey, readSortedPaging, type Site, sortedPage } from "#plugin"
import { KINDS, type Pixel, type PixelsHost } from "./pixel.ts"
import type { Caller, Reports } from "./reports.ts"
import { type PixelResponse, RECENT_DAYS } from "./responses.ts"
import { listPixels } from "./rows.ts"

export const SORTS = ["created", "opens", "last_open", "name"] as const
export const STATES = ["active", "archived"] as const
const PARAMETERS = ["q", "kind", "state", "sort"]

export type PixelList = ReturnType<typeof createPixelList>

/** Returns the function that lists a site's pixels page by page, without deleted ones. */
export function createPixelList({ db }: PixelsHost, reports: Reports, show: (pixel: Pixel) => PixelResponse) {
  return async (site: Site, given: Record<string, unknown>, caller: Caller) => {
    const paging = readSortedPaging(`pixels/${site.id}`, given, PARAMETERS, (reader) => ({
      q: reader.text("q", { min: 0, max: 200 }) ?? "",
      kind: reader.choice("kind", KINDS),
      state: reader.choice("state", STATES),
      sort: reader.choice("sort", SORTS) ?? "created",
    }))
    const { q, kind, state, sort } = paging.filters
    const part = caseKey(q)
    const found = (await listPixels(db, site.id)).filter(
      (pixel) =>
        [pixel.name, pixel.slug].some((text) => caseKey(text).includes(part)) &&
        (kind === undefined || pixel.kind === kind) &&
        (state === undefined || (state === "archived") === (pixel.archived_at !== null)),
    )
    const page = sortedPage(found, (pixel) => sortKeyOf(pixel, sort), paging)
    const recent = await reports.recent(site, page.data, RECENT_DAYS, caller)
    const data = page.data.map((pixel) => ({ ...show(pixel), recent: { days: RECENT_DAYS, ...recent.get(pixel.id)! } })) // it has an entry for each pixel
    return { ...page, data }
  }
}

/** Returns the sort key of a pixel: names ascending, numbers and moments descending. */
function sortKeyOf(pixel: Pixel, sort: (typeof SORTS)[number]): (number | string)[] {
  if (sort === "name") return [caseKey(pixel.name), pixel.id]
  const keys = { created: pixel.created_at, opens: pixel.opens_total, last_open: pixel.last_open_at ?? 0 }
  return [-keys[sort], -pixel.id]
}
