import { Elysia } from "elysia"
import { AuditRowResponse, formatAuditRow } from "../../../domain/audit.ts"
import { type Organization, OrganizationInput, OrganizationPatch, OrganizationResponse, type Role } from "../../../domain/organization.ts"
import { Listed } from "../../../domain/response.ts"
import type { Site } from "../../../domain/site.ts"
import { SiteInput } from "../../../domain/site-input.ts"
import { SiteResponse } from "../../../domain/site-response.ts"
import { etagOf } from "../../../domain/version.ts"
import type { Access } from "../../../services/access/access.ts"
import {
  AUDIT_PARAMETERS,
  type Audit,
  type AuditList,
  organizationEntry,
  readAuditFilters,
  recorded,
  siteEntry,
} from "../../../services/audit/audit.ts"
import { pageOfAll, privatePage, readPaging, readPlainPaging } from "../../../services/lists/paging.ts"
import type { Organizations } from "../../../services/organizations/organizations.ts"
import type { Sites } from "../../../services/sites/sites.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { type creation, expectedVersions, NoQuery, Sent, takes } from "../../public/requests.ts"
import { type SiteFacts, toSiteResponse } from "../../public/responses.ts"
import { MEMBER } from "../authorize.ts"
import { BODIES } from "../bodies.ts"
import { answersEmpty, ListQuery, refuses, withETag } from "../responses.ts"

export interface OrganizationRoutesOptions extends SiteFacts {
  organizations: Organizations
  sites: Pick<Sites, "create">
  access: Access
  audit: Audit
}

const operation = (summary: string) => ({ summary, tags: ["organizations"] })
const PATH = "/api/private/organizations"

/** Creates the routes for organizations and for creating sites in them. */
export function organizationRoutes(
  router: PrivateRouter,
  create: ReturnType<typeof creation>,
  { organizations, sites, access, audit, ...facts }: OrganizationRoutesOptions,
) {
  const show = async (organization: Organization, role: Role) =>
    toOrganizationResponse(organization, role, await organizations.counts(organization.id))

  return new Elysia({ prefix: PATH })
    .use(router)
    .get(
      "",
      async ({ user, session, query }) => {
        const paging = readPlainPaging("organizations", query)
        const own = (await access.all({ user, session })).organizations.filter(({ role }) => role !== "guest")
        const page = await pageOfAll(
          paging,
          own.map((found) => ({ ...found, id: found.organization.id })),
        )
        return { ...page, data: await Promise.all(page.data.map(({ organization, role }) => show(organization, role))) }
      },
      {
        signedIn: true,
        query: ListQuery,
        response: { 200: Listed(OrganizationResponse) },
        detail: { ...operation("List your organizations"), ...refuses("sso_required") },
      },
    )
    .post(
      "",
      ({ user, actor, ...call }) =>
        create<Organization, OrganizationResponse>(
          { ...call, user },
          (body, also) => organizations.createOwned(user, body, recorded(audit, actor, organizationEntry("create"), also)),
          (organization) => ({
            location: `${PATH}/${organization.id}`,
            etag: etagOf(organization),
            body: toOrganizationResponse(organization, "owner", { members: 1, sites: 0, keys: 0 }),
          }),
        ),
      {
        signedIn: { personal: true },
        query: NoQuery,
        body: Sent,
        response: { 201: OrganizationResponse },
        detail: { ...operation("Create an organization"), ...refuses("forbidden"), ...takes(OrganizationInput) },
      },
    )
    .get("/:organization", async ({ organization, role, set }) => withETag(set, organization, await show(organization, role)), {
      canOrganization: MEMBER,
      query: NoQuery,
      response: { 200: OrganizationResponse },
      detail: operation("Get an organization"),
    })
    .patch(
      "/:organization",
      async ({ organization, role, user, session, actor, body, request, set }) => {
        const record = recorded(audit, actor, organizationEntry("update"))
        const counts = await organizations.counts(organization.id)
        const changed = await organizations.update(organization.id, body.value, {
          expected: expectedVersions(request),
          async alongside(statements, change) {
            await access.refuseOwnLockOut({ user, session }, organization.id, statements)
            await record(statements, change)
          },
          current: (now) => toOrganizationResponse(now, role, counts),
        })
        return withETag(set, changed, toOrganizationResponse(changed, role, counts))
      },
      {
        canOrganization: "org:write",
        query: NoQuery,
        body: Sent,
        response: { 200: OrganizationResponse },
        detail: { ...operation("Update an organization"), ...refuses("provider_required"), ...takes(OrganizationPatch) },
      },
    )
    .delete(
      "/:organization",
      async ({ organization, user, actor, body, request, set }) => {
        const alongside = recorded(audit, actor, organizationEntry("delete"))
        await organizations.remove(organization.id, body.value, user.id, { expected: expectedVersions(request), alongside })
        set.status = 202
      },
      {
        canOrganization: { permission: "org:delete", sudo: true, personal: true },
        query: NoQuery,
        body: Sent,
        detail: {
          ...operation("Delete an organization and its sites"),
          ...refuses("precondition_failed"),
          ...BODIES.confirmation,
          ...answersEmpty(202),
        },
      },
    )
    .post(
      "/:organization/sites",
      ({ organization, user, actor, ...call }) =>
        create<Site, SiteResponse>(
          { ...call, user },
          (body, also) => sites.create(organization.id, body, recorded(audit, actor, siteCreated, also)),
          (site) => ({ location: `/api/private/sites/${site.id}`, etag: etagOf(site), body: toSiteResponse(site, facts) }),
        ),
      {
        canOrganization: "site:create",
        query: NoQuery,
        body: Sent,
        response: { 201: SiteResponse },
        detail: { ...operation("Create a site"), ...takes(SiteInput) },
      },
    )
}

export const toOrganizationResponse = (
  { id, name, policy, version }: Organization,
  role: Role,
  counts: Awaited<ReturnType<Organizations["counts"]>>,
): OrganizationResponse => ({
  id,
  name,
  role,
  policy: { ...policy, break_glass_user_ids: [...policy.break_glass_user_ids] },
  counts,
  version,
})

const siteCreated = siteEntry("sites.site.create")

export interface OrganizationAuditOptions {
  auditList: AuditList
}

/** Creates the route for the audit log of an organization, newest entries first. */
export const organizationAuditRoutes = (router: PrivateRouter, { auditList }: OrganizationAuditOptions) =>
  new Elysia({ prefix: "/api/private/organizations/:organization/audit" }).use(router).get(
    "",
    async ({ organization, query }) => {
      const paging = readPaging(`audit/${organization.id}`, query, AUDIT_PARAMETERS, readAuditFilters)
      const filters = { ...paging.filters, organizationId: organization.id }
      const page = await privatePage(
        paging,
        (limit) => auditList.list(filters, paging.after, limit),
        () => auditList.count(filters),
      )
      return { ...page, data: page.data.map(formatAuditRow) }
    },
    {
      canOrganization: "audit:read",
      query: ListQuery,
      response: { 200: Listed(AuditRowResponse) },
      detail: { summary: "List the audit log of an organization", tags: ["organizations"] },
    },
  )
