import { Type as t } from "@sinclair/typebox"
import { type Console, caseKey, Instant, instantOrNull, instantText, orNull, readSortedPaging, siteNotFound, sortedPage } from "#plugin"
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
  const paging = readSortedPaging("admin/sites", query, ["q", "organization", "sort"], (reader) => ({
    fits: readSearch(reader),
    organization: reader.integer("organization", { min: 1, max: Number.MAX_SAFE_INTEGER }),
    sort: reader.choice("sort", SORTS) ?? "id",
  }))
  const { fits, organization, sort } = paging.filters
  const found = (await lists.sites()).filter(
    ({ name, hosts, organization: owner }) => fits([name, ...hosts]) && (organization === undefined || owner.id === organization),
  )
  const bySize = sort === "events_30d" || sort === "bytes"
  const sizes: Figures = bySize ? await lists.figures(found.map(({ id }) => id)) : new Map()
  const page = sortedPage(found, (facts) => placeOf(facts, sort, sizes), paging)
  const figures = bySize ? sizes : await lists.figures(page.data.map(({ id }) => id))
  return { ...page, data: page.data.map((facts) => shown(facts, figures)) }
}

/** Sorts by id or name ascending, by size descending. */
function placeOf({ id, name }: Facts, sort: (typeof SORTS)[number], sizes: Figures): (number | string)[] {
  if (sort === "id") return [id]
  return [sort === "name" ? caseKey(name) : -(sizes.get(id)?.[sort] ?? 0), id]
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
