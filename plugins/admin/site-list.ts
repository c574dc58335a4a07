import { Type as t } from "@sinclair/typebox"
import { AppError, type Console, Instant, instantOrNull, instantText, orNull, pageOfAll, readPaging, siteNotFound } from "#plugin"
import { readSearch } from "./search.ts"
import { Id } from "./shapes.ts"

export const SiteShown = t.Object(
  {
    id: Id,
    name: t.String(),
    hosts: t.Array(t.String()),
    organization: t.Object({ id: Id, name: t.String() }),
    events_24h: t.Integer(),
    events_30d: t.Integer(),
    bytes: t.Integer(),
    last_event_at: orNull(Instant),
    retention_days: orNull(t.Integer()),
    created_at: Instant,
    deleted_at: t.Optional(Instant),
    version: t.Integer(),
  },
  { title: "InstanceSite" },
)

const SORTS = ["id", "name", "events_30d", "bytes"] as const

type Lists = Console["lists"]
type Facts = Awaited<ReturnType<Lists["sites"]>>[number]
type Figures = Awaited<ReturnType<Lists["figures"]>>

/** Those of a query: `q`, `organization`, `sort`. Throws `invalid_query`, `invalid_cursor`. */
export async function listSites(lists: Lists, query: Record<string, unknown>) {
  const paging = readPaging("admin/sites", query, ["q", "organization", "sort"], (reader) => ({
    fits: readSearch(reader),
    organization: reader.integer("organization", { min: 1, max: Number.MAX_SAFE_INTEGER }),
    sort: reader.choice("sort", SORTS) ?? "id",
  }))
  const { fits, organization, sort } = paging.filters
  const found = (await lists.sites()).filter(
    ({ name, hosts, organization: owner }) => fits([name, ...hosts]) && (organization === undefined || owner.id === organization),
  )
  if (sort === "id") {
    const page = await pageOfAll(paging, found)
    const figures = await lists.figures(page.data.map(({ id }) => id))
    return { ...page, data: page.data.map((facts) => shown(facts, figures)) }
  }
  const figures = sort === "name" ? new Map() : await lists.figures(found.map(({ id }) => id))
  return sortedPage(paging, found, figures, sort, async (facts) => shown(facts, await lists.figures([facts.id])))
}

/** Throws `site_not_found`. */
export async function shownSiteById(lists: Lists, id: number) {
  const facts = (await lists.sites()).find((site) => site.id === id)
  if (!facts) throw siteNotFound()
  return shown(facts, await lists.figures([id]))
}

function shown({ created_at, deleted_at, timezone: _, ...facts }: Facts, figures: Figures) {
  const { events_24h = 0, events_30d = 0, bytes = 0, last_event_at = null } = figures.get(facts.id) ?? {}
  return {
    ...facts,
    events_24h,
    events_30d,
    bytes,
    last_event_at: instantOrNull(last_event_at),
    created_at: instantText(created_at),
    ...(deleted_at !== null && { deleted_at: instantText(deleted_at) }),
  }
}

/** The largest first, or by name; the row behind the cursor is looked for by its id. */
async function sortedPage<Facts extends { id: number; name: string }, Shown>(
  paging: ReturnType<typeof readPaging>,
  found: readonly Facts[],
  figures: Map<number, { events_30d: number; bytes: number }>,
  sort: "name" | "events_30d" | "bytes",
  show: (facts: Facts) => Promise<Shown>,
) {
  const size = ({ id }: Facts) => (sort === "name" ? 0 : (figures.get(id)?.[sort] ?? 0))
  const sorted = [...found].sort((a, b) => size(b) - size(a) || (sort === "name" ? a.name.localeCompare(b.name) : 0) || a.id - b.id)
  const start = paging.after === undefined ? 0 : sorted.findIndex(({ id }) => id === paging.after) + 1
  if (start === 0 && paging.after !== undefined) throw new AppError("invalid_cursor", "The row behind the cursor is gone: begin again.")
  const page = await pageOfAll({ ...paging, after: undefined }, sorted.slice(start))
  const data: Shown[] = []
  for (const facts of page.data) data.push(await show(facts))
  return { ...page, data, ...(paging.count && { total: sorted.length }) }
}
