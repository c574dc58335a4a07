import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Deed } from "../../domain/audit.ts"
import { API } from "../../domain/limits.ts"
import { MemberPatch, ROLES, RoleInput } from "../../domain/membership.ts"
import { instantText } from "../../domain/moment.ts"
import type { Organization } from "../../domain/organization.ts"
import { readOptionalJson } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import { organizationDeed } from "../../services/deeds.ts"
import type { ListedMember, Members } from "../../services/members.ts"
import type { Organizations } from "../../services/organizations.ts"
import { pageOfAll, readPaging } from "../../services/paging.ts"
import { expectedVersions } from "../public/conditions.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { OrganizationShown, shownOrganization } from "./organizations.ts"
import { BODIES } from "./sent-bodies.ts"
import { Id, Instant, Listed, ListQuery, refuses, tagged } from "./tagged.ts"

export interface MemberRoutesOptions {
  members: Members
  organizations: Pick<Organizations, "get" | "counts">
  audit: Audit
}

export const PersonShown = t.Object({ id: Id, name: t.String(), email: t.String() })

const MemberShown = t.Object(
  {
    user: PersonShown,
    role: RoleInput,
    grants: t.Array(t.String()),
    denies: t.Array(t.String()),
    site_roles: t.Array(t.Object({ site_id: Id, role: t.String() })),
    mfa: t.Boolean(),
    last_seen_at: t.Union([Instant, t.Null()]),
    joined_at: Instant,
    version: t.Integer(),
  },
  { title: "Member" },
)

const says = (summary: string) => ({ summary, tags: ["members"] })

/** Who belongs to an organization, and what they may do. */
export function memberRoutes(router: PrivateRouter, { members, organizations, audit }: MemberRoutesOptions) {
  const find = (params: Record<string, string | undefined>, { organization }: { organization?: Organization }) =>
    members.get(organization!.id, params.user) // routes below an organization have one

  return new Elysia({ prefix: "/api/private/organizations/:organization" })
    .use(router)
    .get(
      "/members",
      async ({ organization, query }) => {
        const paging = readPaging(`members/${organization.id}`, query, ["q", "role"], (reader) => ({
          q: reader.text("q", { min: 0, max: API.searchChars }),
          role: reader.choice("role", ROLES),
        }))
        const page = await pageOfAll(paging, await members.list(organization.id, paging.filters))
        return { ...page, data: page.data.map(shownMember) }
      },
      { canOrganization: "members:read", query: ListQuery, response: { 200: Listed(MemberShown) }, detail: says("List members") },
    )
    .patch(
      "/members/:user",
      async ({ organization, user, params, actor, body, request, set }) => {
        const member = await members.update(organization.id, params.user, body.value, user.id, {
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, deedOf("update", organization)),
          current: (now) => shownMember({ site_roles: [], ...now }),
        })
        return tagged(set, member, shownMember(member))
      },
      {
        canOrganization: { permission: "members:write", sudo: true, personal: true, find },
        query: NoQuery,
        body: Sent,
        response: { 200: MemberShown },
        detail: { ...says("Change role, grants or denies"), ...refuses("last_owner", "limit_reached"), ...takes(MemberPatch) },
      },
    )
    .delete(
      "/members/:user",
      async ({ organization, user, params, actor, body, request, status }) => {
        const alongside = recorded(audit, actor, deedOf("remove", organization))
        await members.remove(organization.id, params.user, body.value, user.id, { expected: expectedVersions(request), alongside })
        return status(204, undefined)
      },
      {
        canOrganization: { permission: "members:write", personal: true, find, read: readOptionalJson(API.privateBodyBytes) },
        query: NoQuery,
        body: Sent,
        detail: { ...says("Remove a member"), ...refuses("last_owner", "precondition_failed"), ...BODIES.removal },
      },
    )
    .post(
      "/transfer-ownership",
      async ({ organization, user, actor, body, set }) => {
        await members.transferOwnership(
          organization.id,
          body.value,
          user.id,
          recorded(audit, actor, () => organizationDeed("transfer")(organization)),
        )
        const { id } = organization
        return tagged(set, organization, shownOrganization(organization, "admin", await organizations.counts(id)))
      },
      {
        canOrganization: { permission: "org:delete", sudo: true, personal: true },
        query: NoQuery,
        body: Sent,
        response: { 200: OrganizationShown },
        detail: { ...says("Make somebody else the owner"), ...refuses("precondition_failed"), ...BODIES.owner },
      },
    )
}

const shownMember = (member: ListedMember): Static<typeof MemberShown> => ({
  user: { id: member.user_id, name: member.name, email: member.email },
  role: member.role,
  grants: [...member.grants],
  denies: [...member.denies],
  site_roles: member.site_roles,
  mfa: member.mfa,
  last_seen_at: member.last_seen_at === null ? null : instantText(member.last_seen_at),
  joined_at: instantText(member.created_at),
  version: member.version,
})

const deedOf =
  (verb: string, { id }: Organization) =>
  (member: { user_id: number; email: string }): Deed => ({
    action: `accounts.member.${verb}`,
    target: { type: "user", id: member.user_id, label: member.email },
    organizationId: id,
  })
