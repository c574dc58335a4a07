import {
  AnyQuery,
  type AuditEntry,
  failures,
  type Host,
  instantOrNull,
  instantText,
  NoQuery,
  Paged,
  pageOfAll,
  readOptionalJson,
  readPlainPaging,
  Sent,
  versionsIn,
} from "#plugin"
import { BODIES } from "./bodies.ts"
import { findingOrganization, organizationOf } from "./organizations.ts"
import { MemberResponse } from "./responses.ts"
import { operation } from "./routing.ts"

/** Routes for the members of an organization. */
export const memberRoutes = (host: Host) => {
  const { members } = host.services.console
  const finding = findingOrganization(host)
  const auditEntry =
    (verb: string, organizationId: number) =>
    ({ user_id, email }: { user_id: number; email: string }): AuditEntry => ({
      action: `admin.member.${verb}`,
      target: { type: "user", id: user_id, label: email },
      organizationId,
    })

  return host
    .instanceRouter()
    .get(
      "/admin/organizations/:id/members",
      async ({ params, query }) => {
        const paging = readPlainPaging("admin/members", query)
        const page = await pageOfAll(paging, await members.list((await organizationOf(host, params)).id))
        return { ...page, data: page.data.map(formatMember) }
      },
      { instanceAdmin: finding, query: AnyQuery, response: { 200: Paged(MemberResponse) }, detail: operation("List members") },
    )
    .put(
      "/admin/organizations/:id/members/:user",
      async ({ actor, params, body, request }) => {
        const { id } = await organizationOf(host, params)
        const expected = versionsIn(request.headers.get("if-match"))
        return formatMember(
          await members.put(id, params.user, body.value, { alongside: host.audit.recorded(actor, auditEntry("put", id)), expected }),
        )
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 200: MemberResponse },
        detail: {
          ...operation("Add a member or change a member's role", BODIES.member),
          ...failures("last_owner", "precondition_failed", "version_conflict", "limit_reached"),
        },
      },
    )
    .delete(
      "/admin/organizations/:id/members/:user",
      async ({ actor, params, body, status }) => {
        const { id } = await organizationOf(host, params)
        await members.remove(id, params.user, body.value, "instance", { alongside: host.audit.recorded(actor, auditEntry("remove", id)) })
        return status(204, undefined)
      },
      {
        instanceAdmin: { ...finding, sudo: true, read: readOptionalJson(64 << 10) },
        query: NoQuery,
        body: Sent,
        detail: { ...operation("Remove a member", BODIES.memberRemoval), ...failures("last_owner") },
      },
    )
}

const formatMember = (member: {
  user_id: number
  name: string
  email: string
  role: string
  mfa: boolean
  last_seen_at: number | null
  created_at: number
  version: number
}) => ({
  user: { id: member.user_id, name: member.name, email: member.email },
  role: member.role,
  mfa: member.mfa,
  last_seen_at: instantOrNull(member.last_seen_at),
  joined_at: instantText(member.created_at),
  version: member.version,
})
