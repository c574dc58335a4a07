import { Type as t } from "@sinclair/typebox"
import {
  AnyQuery,
  type AuditEntry,
  fault,
  type Host,
  inspect,
  isObject,
  NoQuery,
  Paged,
  parseId,
  readNothing,
  refuseFaults,
  Sent,
  type Site,
} from "#plugin"
import { begin, JobShown } from "./jobs.ts"
import { refuses, SENT } from "./sent.ts"
import { Id, PreviewShown, says } from "./shapes.ts"
import { listSites, SiteShown, shownSiteById } from "./site-list.ts"

const TransferInput = t.Object({ organization_id: Id }, { additionalProperties: false, title: "SiteTransfer" })
/** Sites of all organizations: counts and sizes, and where they belong. */
export const siteRoutes = (host: Host) => {
  const { sites, organizations } = host.services
  const { lists, retention, detachedBy } = host.services.console
  type Params = Record<string, string | undefined>
  const find = async ({ id }: Params): Promise<Site> => sites.get(parseId(id) ?? 0)
  const finding = { find: async (params: Params) => void (await find(params)) }
  const deletedOne = async ({ id }: Params) => sites.deleted(parseId(id) ?? 0)

  const deed =
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
      response: { 200: Paged(SiteShown) },
      detail: says("List sites"),
    })
    .post(
      "/admin/sites/:id/transfer",
      async ({ actor, params, body }) => {
        const site = await find(params)
        const { fields, faults } = inspect(TransferInput, body.value)
        const wanted = fields.organization_id === undefined ? undefined : await organizations.get(fields.organization_id)
        if (fields.organization_id !== undefined && !wanted)
          faults.push(fault("/organization_id", "invalid_choice", "must be the ID of an organization"))
        refuseFaults(faults)
        const detached = await detachedBy(site)
        await sites.transfer(site.id, wanted!.id, { alongside: host.audit.recorded(actor, deed("transfer")) }) // refused just now if there is none
        return { site: await shownSiteById(lists, site.id), detached }
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
        detail: says("Transfer a site to another organization", SENT.transfer),
      },
    )
    .post(
      "/admin/sites/:id/purge",
      async ({ actor, params, ...call }) => {
        const site = await find(params)
        const wanted = call.body.value
        if (isObject(wanted) && wanted.dry_run === true) return retention.countBefore(site, wanted)
        return begin(host, call, (kept) => retention.purge(actor, site, wanted, kept))
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 200: PreviewShown, 202: JobShown },
        detail: says("Delete visits before a day, or preview the deletion", SENT.purge),
      },
    )
    .delete(
      "/admin/sites/:id",
      async ({ actor, params, status }) => {
        await sites.remove((await find(params)).id, { alongside: host.audit.recorded(actor, deed("delete")) })
        return status(204, undefined)
      },
      {
        instanceAdmin: { ...finding, sudo: true, read: readNothing },
        query: NoQuery,
        detail: says("Delete a site, with 30 days to restore it"),
      },
    )
    .post(
      "/admin/sites/:id/restore",
      async ({ actor, params }) => {
        const { id } = await sites.restore((await deletedOne(params)).id, { alongside: host.audit.recorded(actor, deed("restore")) })
        return shownSiteById(lists, id)
      },
      {
        instanceAdmin: { find: async (params: Params) => void (await deletedOne(params)), read: readNothing },
        query: NoQuery,
        response: { 200: SiteShown },
        detail: { ...says("Restore a deleted site"), ...refuses("limit_reached") },
      },
    )
}
