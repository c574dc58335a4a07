import { Type as t } from "@sinclair/typebox"
import {
  AppError,
  type Deed,
  fault,
  type Host,
  inspect,
  instantText,
  leaveUnread,
  pageOfAll,
  parseId,
  readPaging,
  refuseFaults,
  type Site,
  siteNotFound,
} from "#plugin"
import { JobShown, jobShown } from "./jobs.ts"
import { refuses, SENT } from "./sent.ts"
import { AnyQuery, Id, Instant, NoQuery, orNull, Page, Sent, says } from "./shapes.ts"

const SiteShown = t.Object(
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

const PreviewShown = t.Object({
  at: Instant,
  by: t.Array(t.Object({ site_id: Id, kind: t.String(), cutoff: t.String(), rows: t.Integer(), events: t.Integer(), days: t.Integer() })),
  bytes: t.Integer(),
})

const TransferInput = t.Object({ organization_id: Id }, { additionalProperties: false, title: "SiteTransfer" })
const SORTS = ["id", "name", "events_30d", "bytes"] as const

/** Sites of all organizations: counts and sizes, and where they belong. */
export const siteRoutes = (host: Host) => {
  const { sites, organizations } = host.services
  const { lists, retention, detachedBy } = host.services.console
  type Facts = Awaited<ReturnType<typeof lists.sites>>[number]
  type Figures = Awaited<ReturnType<typeof lists.figures>>

  type Params = Record<string, string | undefined>
  const find = async ({ id }: Params): Promise<Site> => sites.get(parseId(id) ?? 0)
  const finding = { find: async (params: Params) => void (await find(params)) }
  const deletedOne = async ({ id }: Params) => sites.deleted(parseId(id) ?? 0)

  const deed =
    (verb: string) =>
    ({ id, name, organization_id }: Site): Deed => ({
      action: `admin.site.${verb}`,
      target: { type: "site", id, label: name },
      organizationId: organization_id,
      siteId: id,
    })
  function shown({ created_at, deleted_at, timezone: _, ...facts }: Facts, figures: Figures) {
    const { events_24h = 0, events_30d = 0, bytes = 0, last_event_at = null } = figures.get(facts.id) ?? {}
    return {
      ...facts,
      events_24h,
      events_30d,
      bytes,
      last_event_at: last_event_at === null ? null : instantText(last_event_at),
      created_at: instantText(created_at),
      ...(deleted_at !== null && { deleted_at: instantText(deleted_at) }),
    }
  }
  async function shownById(id: number) {
    const facts = (await lists.sites()).find((site) => site.id === id)
    if (!facts) throw siteNotFound()
    return shown(facts, await lists.figures([id]))
  }

  return host
    .instanceRouter()
    .get(
      "/admin/sites",
      async ({ query }) => {
        const paging = readPaging("admin/sites", query, ["q", "organization", "sort"], (reader) => ({
          q: reader.text("q", { min: 0, max: 200 }) ?? "",
          organization: reader.integer("organization", { min: 1, max: Number.MAX_SAFE_INTEGER }),
          sort: reader.choice("sort", SORTS) ?? "id",
        }))
        const { q, organization, sort } = paging.filters
        const part = q.toLowerCase()
        const found = (await lists.sites()).filter(
          ({ name, hosts, organization: owner }) =>
            [name, ...hosts].some((text) => text.toLowerCase().includes(part)) && (organization === undefined || owner.id === organization),
        )
        if (sort === "id") {
          const page = await pageOfAll(paging, found)
          const figures = await lists.figures(page.data.map(({ id }) => id))
          return { ...page, data: page.data.map((facts) => shown(facts, figures)) }
        }
        const figures = sort === "name" ? new Map() : await lists.figures(found.map(({ id }) => id))
        return sortedPage(paging, found, figures, sort, async (facts) => shown(facts, await lists.figures([facts.id])))
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Page(SiteShown) }, detail: says("List sites") },
    )
    .post(
      "/admin/sites/:id/transfer",
      async ({ actor, params, body }) => {
        const site = await find(params)
        const { fields, faults } = inspect(TransferInput, body.value)
        const wanted = fields.organization_id === undefined ? undefined : await organizations.get(fields.organization_id)
        if (fields.organization_id !== undefined && !wanted)
          faults.push(fault("/organization_id", "invalid_choice", "must be an organization"))
        refuseFaults(faults)
        const detached = await detachedBy(site)
        await sites.transfer(site.id, wanted!.id, { alongside: host.audit.recorded(actor, deed("transfer")) }) // refused just now if there is none
        return { site: await shownById(site.id), detached }
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        response: {
          200: t.Object({
            site: SiteShown,
            detached: t.Object({
              api_keys: t.Array(t.Object({ id: Id, name: t.String() })),
              site_members: t.Array(t.Object({ user_id: Id, email: t.String(), role: t.String() })),
            }),
          }),
        },
        detail: says("Move a site to another organization", SENT.transfer),
      },
    )
    .post(
      "/admin/sites/:id/purge",
      async ({ actor, params, body, set }) => {
        const done = await retention.purge(actor, await find(params), body.value)
        if ("by" in done) return done
        set.status = 202
        return jobShown(host, done)
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 200: PreviewShown, 202: JobShown },
        detail: says("Remove visits before a day, or count them", SENT.purge),
      },
    )
    .delete(
      "/admin/sites/:id",
      async ({ actor, params, status }) => {
        await sites.remove((await find(params)).id, { alongside: host.audit.recorded(actor, deed("delete")) })
        return status(204, undefined)
      },
      {
        instanceAdmin: { ...finding, sudo: true, read: leaveUnread },
        query: NoQuery,
        detail: says("Delete a site; for 30 days it can come back"),
      },
    )
    .post(
      "/admin/sites/:id/restore",
      async ({ actor, params }) => {
        const { id } = await sites.restore((await deletedOne(params)).id, { alongside: host.audit.recorded(actor, deed("restore")) })
        return shownById(id)
      },
      {
        instanceAdmin: { find: async (params: Params) => void (await deletedOne(params)), read: leaveUnread },
        query: NoQuery,
        response: { 200: SiteShown },
        detail: { ...says("Bring a deleted site back"), ...refuses("limit_reached") },
      },
    )
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
