import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { type Organization, OrganizationInput, OrganizationPatch, PolicyInput, type Role } from "../../domain/organization.ts"
import type { Site } from "../../domain/site.ts"
import { SiteInput } from "../../domain/site-input.ts"
import { etagOf } from "../../domain/version.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Access } from "../../services/access.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import { deedOnSite, organizationDeed } from "../../services/deeds.ts"
import type { Organizations } from "../../services/organizations.ts"
import { pageOfAll, readPlainPaging } from "../../services/paging.ts"
import type { Sites } from "../../services/sites.ts"
import { expectedVersions } from "../public/conditions.ts"
import type { creation } from "../public/creation.ts"
import { type SiteFacts, SiteShown, shownSite } from "../public/shown.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { MEMBER } from "./authorize.ts"
import { answersEmpty, BODIES } from "./sent-bodies.ts"
import { Id, Listed, ListQuery, refuses, tagged } from "./tagged.ts"

export interface OrganizationRoutesOptions extends SiteFacts {
  organizations: Organizations
  sites: Pick<Sites, "create">
  access: Access
  audit: Audit
}

export const OrganizationShown = t.Object(
  {
    id: Id,
    name: t.String(),
    role: t.String({ description: "Of who asks" }),
    policy: PolicyInput,
    counts: t.Object({ members: t.Integer(), sites: t.Integer(), keys: t.Integer() }),
    version: t.Integer(),
  },
  { title: "Organization" },
)

const says = (summary: string) => ({ summary, tags: ["organizations"] })
const PATH = "/api/private/organizations"

/** Organizations, and the sites that are made in them. */
export function organizationRoutes(
  router: PrivateRouter,
  create: ReturnType<typeof creation>,
  { organizations, sites, access, audit, ...facts }: OrganizationRoutesOptions,
) {
  const show = async (organization: Organization, role: Role) =>
    shownOrganization(organization, role, await organizations.counts(organization.id))

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
        response: { 200: Listed(OrganizationShown) },
        detail: { ...says("Own organizations"), ...refuses("sso_required") },
      },
    )
    .post(
      "",
      ({ user, actor, ...call }) =>
        create<Organization, Static<typeof OrganizationShown>>(
          { ...call, user },
          (body, also) => organizations.createOwned(user, body, recorded(audit, actor, organizationDeed("create"), also)),
          (organization) => ({
            location: `${PATH}/${organization.id}`,
            etag: etagOf(organization),
            body: shownOrganization(organization, "owner", { members: 1, sites: 0, keys: 0 }),
          }),
        ),
      {
        signedIn: { personal: true },
        query: NoQuery,
        body: Sent,
        response: { 201: OrganizationShown },
        detail: { ...says("Make an organization"), ...refuses("forbidden"), ...takes(OrganizationInput) },
      },
    )
    .get("/:organization", async ({ organization, role, set }) => tagged(set, organization, await show(organization, role)), {
      canOrganization: MEMBER,
      query: NoQuery,
      response: { 200: OrganizationShown },
      detail: says("Read an organization"),
    })
    .patch(
      "/:organization",
      async ({ organization, role, user, session, actor, body, request, set }) => {
        const record = recorded(audit, actor, organizationDeed("update"))
        const counts = await organizations.counts(organization.id)
        const changed = await organizations.update(organization.id, body.value, {
          expected: expectedVersions(request),
          async alongside(statements, change) {
            await access.refuseOwnLockOut({ user, session }, organization.id, statements)
            await record(statements, change)
          },
          current: (now) => shownOrganization(now, role, counts),
        })
        return tagged(set, changed, shownOrganization(changed, role, counts))
      },
      {
        canOrganization: "org:write",
        query: NoQuery,
        body: Sent,
        response: { 200: OrganizationShown },
        detail: { ...says("Change name or policy"), ...refuses("provider_required"), ...takes(OrganizationPatch) },
      },
    )
    .delete(
      "/:organization",
      async ({ organization, user, actor, body, request, set }) => {
        const alongside = recorded(audit, actor, organizationDeed("delete"))
        await organizations.remove(organization.id, body.value, user.id, { expected: expectedVersions(request), alongside })
        set.status = 202
      },
      {
        canOrganization: { permission: "org:delete", sudo: true, personal: true },
        query: NoQuery,
        body: Sent,
        detail: {
          ...says("Delete an organization with its sites"),
          ...refuses("precondition_failed"),
          ...BODIES.confirmation,
          ...answersEmpty(202),
        },
      },
    )
    .post(
      "/:organization/sites",
      ({ organization, user, actor, ...call }) =>
        create<Site, SiteShown>(
          { ...call, user },
          (body, also) => sites.create(organization.id, body, recorded(audit, actor, siteCreated, also)),
          (site) => ({ location: `/api/private/sites/${site.id}`, etag: etagOf(site), body: shownSite(site, facts) }),
        ),
      {
        canOrganization: "site:create",
        query: NoQuery,
        body: Sent,
        response: { 201: SiteShown },
        detail: { ...says("Make a site"), ...takes(SiteInput) },
      },
    )
}

export const shownOrganization = (
  { id, name, policy, version }: Organization,
  role: Role,
  counts: Awaited<ReturnType<Organizations["counts"]>>,
): Static<typeof OrganizationShown> => ({
  id,
  name,
  role,
  policy: { ...policy, break_glass_user_ids: [...policy.break_glass_user_ids] },
  counts,
  version,
})

const siteCreated = deedOnSite("sites.site.create")
