import { Type as t } from "@sinclair/typebox"
import {
  AnyQuery,
  ArgumentReader,
  type AuditEntry,
  type Console,
  caseKey,
  failures,
  fault,
  type Host,
  inspect,
  instantOrNull,
  instantText,
  isObject,
  NoQuery,
  Paged,
  parseId,
  readNothing,
  readSortedPaging,
  refuseArguments,
  refuseFaults,
  Sent,
  type Site,
  siteNotFound,
  sortedPage,
} from "#plugin"
import { DisputeResponse, Id, SiteResponse, TransferResponse } from "./account-responses.ts"
import { BODIES } from "./bodies.ts"
import { begin } from "./jobs.ts"
import { JobResponse, PreviewResponse } from "./operation-responses.ts"
import { operation, readSearch } from "./routing.ts"

const SORTS = ["id", "name", "events_30d", "bytes"] as const

const TransferInput = t.Object({ organization_id: Id }, { additionalProperties: false, title: "SiteTransfer" })

/** Routes for the sites of all organizations. They return counts and sizes, but no visitor data. */
export const siteRoutes = (host: Host) => {
  const { sites, organizations } = host.services
  const { lists, retention, detachedBy } = host.services.console
  type Params = Record<string, string | undefined>
  const find = async ({ id }: Params): Promise<Site> => sites.get(parseId(id) ?? 0)
  const finding = { find: async (params: Params) => void (await find(params)) }
  const findDeleted = async ({ id }: Params) => sites.deleted(parseId(id) ?? 0)

  const auditEntry =
    (verb: string) =>
    ({ id, name, organization_id }: Site): AuditEntry => ({
      action: `admin.site.${verb}`,
      target: { type: "site", id, label: name },
      organizationId: organization_id,
      siteId: id,
    })
  return host
    .instanceRouter()
    .get("/admin/sites", ({ query }) => listSites(lists, query), {
      instanceAdmin: true,
      query: AnyQuery,
      response: { 200: Paged(SiteResponse) },
      detail: operation("List sites"),
    })
    .post(
      "/admin/sites/:id/transfer",
      async ({ actor, user, params, body }) => {
        const site = await find(params)
        const { fields, faults } = inspect(TransferInput, body.value)
        const wanted = fields.organization_id === undefined ? undefined : await organizations.get(fields.organization_id)
        if (fields.organization_id !== undefined && !wanted)
          faults.push(fault("/organization_id", "invalid_choice", "must be the ID of an organization"))
        refuseFaults(faults)
        const detached = await detachedBy(site)
        const alongside = host.audit.recorded(actor, auditEntry("transfer"))
        await sites.transfer(site.id, wanted!.id, user.id, { alongside }) // rejected above if missing
        return { site: await formatSiteById(lists, site.id), detached }
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        response: {
          200: TransferResponse,
        },
        detail: operation("Transfer a site to another organization", BODIES.transfer),
      },
    )
    .post(
      "/admin/sites/:id/purge",
      async ({ actor, params, ...call }) => {
        const site = await find(params)
        const wanted = call.body.value
        if (isObject(wanted) && wanted.dry_run === true) return retention.countBefore(site, wanted)
        return begin(host, call, (alongside) => retention.purge(actor, site, wanted, alongside))
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 200: PreviewResponse, 202: JobResponse },
        detail: operation("Delete visits before a day, or preview the deletion", BODIES.purge),
      },
    )
    .delete(
      "/admin/sites/:id",
      async ({ actor, params, status }) => {
        await sites.remove((await find(params)).id, { alongside: host.audit.recorded(actor, auditEntry("delete")) })
        return status(204, undefined)
      },
      {
        instanceAdmin: { ...finding, sudo: true, read: readNothing },
        query: NoQuery,
        detail: operation("Delete a site, with 30 days to restore it"),
      },
    )
    .post(
      "/admin/sites/:id/restore",
      async ({ actor, params }) => {
        const { id } = await sites.restore((await findDeleted(params)).id, { alongside: host.audit.recorded(actor, auditEntry("restore")) })
        return formatSiteById(lists, id)
      },
      {
        instanceAdmin: { find: async (params: Params) => void (await findDeleted(params)), read: readNothing },
        query: NoQuery,
        response: { 200: SiteResponse },
        detail: { ...operation("Restore a deleted site"), ...failures("limit_reached") },
      },
    )
}

type Lists = Console["lists"]
type Facts = Awaited<ReturnType<Lists["sites"]>>[number]
type Figures = Awaited<ReturnType<Lists["figures"]>>

/** Returns a page of the sites that match `q` and `organization`. Throws `invalid_query`, `invalid_cursor`. */
async function listSites(lists: Lists, query: Record<string, unknown>) {
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
  const page = sortedPage(found, (facts) => sortKeyOf(facts, sort, sizes), paging)
  const figures = bySize ? sizes : await lists.figures(page.data.map(({ id }) => id))
  return { ...page, data: page.data.map((facts) => formatSite(facts, figures)) }
}

/** Returns the sort key of a site: ids and names ascending, sizes descending. */
function sortKeyOf({ id, name }: Facts, sort: (typeof SORTS)[number], sizes: Figures): (number | string)[] {
  if (sort === "id") return [id]
  return [sort === "name" ? caseKey(name) : -(sizes.get(id)?.[sort] ?? 0), id]
}

/** Throws `site_not_found`. */
async function formatSiteById(lists: Lists, id: number) {
  const facts = (await lists.sites()).find((site) => site.id === id)
  if (!facts) throw siteNotFound()
  return formatSite(facts, await lists.figures([id]))
}

function formatSite({ created_at, deleted_at, timezone: _, ...facts }: Facts, figures: Figures) {
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

type Dispute = Awaited<ReturnType<Console["hostDisputes"]["get"]>>
type Params = Record<string, string | undefined>

/** Routes for hosts that sites of several organizations claim. */
export const hostDisputeRoutes = (host: Host) => {
  const { hostDisputes } = host.services.console
  const hostIn = ({ host: named }: Params): string => (named ?? "").toLowerCase()

  return host
    .instanceRouter()
    .get("/admin/host-disputes", async ({ query }) => pageOfDisputes(await hostDisputes.list(), query), {
      instanceAdmin: true,
      query: AnyQuery,
      response: { 200: Paged(DisputeResponse) },
      detail: { ...operation("List host disputes"), ...failures("invalid_cursor") },
    })
    .put(
      "/admin/host-disputes/:host",
      async ({ actor, params, body }) =>
        formatDispute(
          await hostDisputes.decide(hostIn(params), body.value, actor.id ?? null, host.audit.recorded(actor, auditEntry("decide"))),
        ),
      {
        instanceAdmin: { find: async (params: Params) => void (await hostDisputes.get(hostIn(params))) },
        query: NoQuery,
        body: Sent,
        response: { 200: DisputeResponse },
        detail: { ...operation("Decide a host dispute", BODIES.hostDecision), ...failures("host_dispute_not_found") },
      },
    )
    .delete(
      "/admin/host-disputes/:host",
      async ({ actor, params, status }) => {
        await hostDisputes.withdraw(hostIn(params), host.audit.recorded(actor, auditEntry("withdraw")))
        return status(204, undefined)
      },
      {
        instanceAdmin: { read: readNothing },
        query: NoQuery,
        detail: { ...operation("Withdraw the decision of a host dispute"), ...failures("host_dispute_not_found") },
      },
    )
}

const DISPUTES_PAGE = { min: 1, max: 200, default: 50 } as const

function pageOfDisputes(disputes: readonly Dispute[], query: Record<string, unknown>) {
  const reader = new ArgumentReader(query, ["limit", "cursor", "count", "q"])
  const limit = reader.integer("limit", DISPUTES_PAGE) ?? DISPUTES_PAGE.default
  const cursor = reader.text("cursor", { min: 1, max: 1_000 })
  const count = reader.choice("count", ["true", "false"]) === "true"
  const fits = readSearch(reader)
  refuseArguments(reader, "text")
  const found = disputes.filter((dispute) => fits([dispute.host, ...dispute.organizations.map(({ name }) => name)]))
  const page = sortedPage(found, ({ host }) => [host], { list: `admin/host-disputes ${query.q ?? ""}`, cursor, limit, count })
  return { ...page, data: page.data.map(formatDispute) }
}

const formatDispute = ({ organizations, decision, ...dispute }: Dispute) => ({
  ...dispute,
  organizations: organizations.map(({ listed_at, ...organization }) => ({ ...organization, listed_at: instantText(listed_at) })),
  decision: decision && { ...decision, decided_at: instantText(decision.decided_at) },
})

const auditEntry =
  (verb: string) =>
  ({ host, organization_id }: { host: string; organization_id: number }): AuditEntry => ({
    action: `admin.host-dispute.${verb}`,
    target: { type: "host-dispute", id: host, label: host },
    organizationId: organization_id,
  })
