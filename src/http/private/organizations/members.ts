import { Elysia } from "elysia"
import type { AuditEntry } from "../../../domain/audit.ts"
import { API } from "../../../domain/limits.ts"
import { MemberPatch, MemberResponse, ROLES } from "../../../domain/membership.ts"
import { instantText } from "../../../domain/moment.ts"
import type { Organization } from "../../../domain/organization.ts"
import { OrganizationResponse } from "../../../domain/organization.ts"
import { Listed } from "../../../domain/response.ts"
import { type Audit, organizationEntry, recorded } from "../../../services/audit/audit.ts"
import { pageOfAll, readPaging } from "../../../services/lists/paging.ts"
import type { ListedMember, Members } from "../../../services/organizations/members.ts"
import type { Organizations } from "../../../services/organizations/organizations.ts"
import { readOptionalJson } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { expectedVersions, NoQuery, Sent, takes } from "../../public/requests.ts"
import { BODIES } from "../bodies.ts"
import { ListQuery, refuses, withETag } from "../responses.ts"
import { toOrganizationResponse } from "./organizations.ts"

export interface MemberRoutesOptions {
  members: Members
  organizations: Pick<Organizations, "get" | "counts">
  audit: Audit
}

const operation = (summary: string) => ({ summary, tags: ["members"] })

/** Creates the routes for the members of an organization. */
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
        return { ...page, data: page.data.map(toMemberResponse) }
      },
      { canOrganization: "members:read", query: ListQuery, response: { 200: Listed(MemberResponse) }, detail: operation("List members") },
    )
    .patch(
      "/members/:user",
      async ({ organization, user, params, actor, body, request, set }) => {
        const member = await members.update(organization.id, params.user, body.value, user.id, {
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, auditEntry("update", organization)),
          current: (now) => toMemberResponse({ site_roles: [], ...now }),
        })
        return withETag(set, member, toMemberResponse(member))
      },
      {
        canOrganization: { permission: "members:write", sudo: true, personal: true, find },
        query: NoQuery,
        body: Sent,
        response: { 200: MemberResponse },
        detail: {
          ...operation("Update the role, grants or denies of a member"),
          ...refuses("last_owner", "limit_reached"),
          ...takes(MemberPatch),
        },
      },
    )
    .delete(
      "/members/:user",
      async ({ organization, user, params, actor, body, request, status }) => {
        const alongside = recorded(audit, actor, auditEntry("remove", organization))
        await members.remove(organization.id, params.user, body.value, user.id, { expected: expectedVersions(request), alongside })
        return status(204, undefined)
      },
      {
        canOrganization: { permission: "members:write", personal: true, find, read: readOptionalJson(API.privateBodyBytes) },
        query: NoQuery,
        body: Sent,
        detail: { ...operation("Remove a member"), ...refuses("last_owner", "precondition_failed"), ...BODIES.removal },
      },
    )
    .post(
      "/transfer-ownership",
      async ({ organization, user, actor, body, set }) => {
        await members.transferOwnership(
          organization.id,
          body.value,
          user.id,
          recorded(audit, actor, () => organizationEntry("transfer")(organization)),
        )
        const { id } = organization
        return withETag(set, organization, toOrganizationResponse(organization, "admin", await organizations.counts(id)))
      },
      {
        canOrganization: { permission: "org:delete", sudo: true, personal: true },
        query: NoQuery,
        body: Sent,
        response: { 200: OrganizationResponse },
        detail: { ...operation("Transfer ownership"), ...refuses("precondition_failed"), ...BODIES.owner },
      },
    )
}

const toMemberResponse = (member: ListedMember): MemberResponse => ({
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

const auditEntry =
  (verb: string, { id }: Organization) =>
  (member: { user_id: number; email: string }): AuditEntry => ({
    action: `accounts.member.${verb}`,
    target: { type: "user", id: member.user_id, label: member.email },
    organizationId: id,
  })
