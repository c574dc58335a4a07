import {
  AnyQuery,
  AppError,
  type AuditEntry,
  etagOf,
  failures,
  type Host,
  instantOrNull,
  instantText,
  NoQuery,
  Paged,
  pageOfAll,
  parseId,
  readOptionalJson,
  readPaging,
  readPlainPaging,
  Sent,
  versionsIn,
} from "#plugin"
import { MemberResponse, OrganizationResponse } from "./account-responses.ts"
import { BODIES } from "./bodies.ts"
import { operation, readSearch, tagged } from "./routing.ts"

/** Routes for organizations. They return no data of the sites except counts and sizes. */
export const organizationRoutes = (host: Host) => {
  const { organizations } = host.services
  const { lists } = host.services.console
  const finding = findingOrganization(host)
  const auditEntry =
    (verb: string) =>
    ({ id, name }: { id: number; name: string }): AuditEntry => ({
      action: `admin.organization.${verb}`,
      target: { type: "organization", id, label: name },
      organizationId: id,
    })

  return host
    .instanceRouter()
    .get(
      "/admin/organizations",
      async ({ query }) => {
        const paging = readPaging("admin/organizations", query, ["q"], readSearch)
        const page = await pageOfAll(
          paging,
          (await lists.organizations()).filter(({ name }) => paging.filters([name])),
        )
        const data = []
        for (const facts of page.data) data.push(await formatOrganization(host, facts))
        return { ...page, data }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(OrganizationResponse) }, detail: operation("List organizations") },
    )
    .post(
      "/admin/organizations",
      ({ actor, ...call }) =>
        host.create(
          call,
          (body, storeAnswer) => {
            const record = host.audit.recorded(actor, auditEntry("create"))
            return organizations.create(body, {
              async alongside(statements, change) {
                await record(statements, change)
                await storeAnswer(statements, change)
              },
            })
          },
          (created: NewOrganization) => ({
            location: `/api/private/admin/organizations/${created.id}`,
            etag: etagOf(created),
            body: formatNewOrganization(created),
          }),
        ),
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 201: OrganizationResponse },
        detail: operation("Create an organization", BODIES.organization),
      },
    )
    .get(
      "/admin/organizations/:id",
      async ({ params, set }) => {
        const facts = await formatOrganizationById(host, (await organizationOf(host, params)).id)
        return tagged(set, facts, facts)
      },
      { instanceAdmin: finding, query: NoQuery, response: { 200: OrganizationResponse }, detail: operation("Get an organization") },
    )
    .patch(
      "/admin/organizations/:id",
      async ({ actor, params, body, request, set }) => {
        const { id } = await organizationOf(host, params)
        const present = await formatOrganizationById(host, id)
        const changed = await organizations.update(id, body.value, {
          alongside: host.audit.recorded(actor, auditEntry("update")),
          expected: versionsIn(request.headers.get("if-match")),
          current: () => present,
        })
        return tagged(set, changed, await formatOrganizationById(host, id))
      },
      {
        instanceAdmin: finding,
        query: NoQuery,
        body: Sent,
        response: { 200: OrganizationResponse },
        detail: { ...operation("Update an organization", BODIES.organizationPatch), ...failures("precondition_failed") },
      },
    )
    .delete(
      "/admin/organizations/:id",
      async ({ actor, user, params, body, request, set }) => {
        const { id } = await organizationOf(host, params)
        const alongside = host.audit.recorded(actor, auditEntry("delete"))
        await organizations.remove(id, body.value, user.id, { alongside, expected: versionsIn(request.headers.get("if-match")) })
        set.status = 202
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        detail: {
          ...operation("Delete an organization and its sites", BODIES.confirmation),
          ...failures("precondition_failed"),
          responses: { 202: { description: "The sites of the organization are deleted within the next minutes." } },
        },
      },
    )
}

type Params = Record<string, string | undefined>
type Facts = Awaited<ReturnType<Host["services"]["console"]["lists"]["organizations"]>>[number]
/** An organization that was just created. */
type NewOrganization = Pick<Facts, "id" | "name" | "created_at" | "version">

/** Returns the organization in the path. Throws `organization_not_found`. */
async function organizationOf({ services }: Host, { id }: Params) {
  const found = await services.organizations.get(parseId(id) ?? 0)
  if (!found) throw new AppError("organization_not_found", "This organization doesn't exist.")
  return found
}

/** Checks that the organization in the path exists before the body is read. */
const findingOrganization = (host: Host) => ({ find: async (params: Params) => void (await organizationOf(host, params)) })

/** Returns an organization with the number of events and the size of its sites. */
async function formatOrganization({ services }: Host, { created_at, ...facts }: Facts) {
  const own = (await services.sites.list(facts.id)).map(({ id }) => id)
  const figures = [...(await services.console.lists.figures(own)).values()]
  return {
    ...facts,
    events_30d: figures.reduce((sum, { events_30d }) => sum + events_30d, 0),
    bytes: figures.reduce((sum, { bytes }) => sum + bytes, 0),
    created_at: instantText(created_at),
  }
}

/** The caller has checked that the organization exists. */
async function formatOrganizationById(host: Host, id: number) {
  return formatOrganization(host, (await host.services.console.lists.organizations()).find((facts) => facts.id === id)!)
}

/** A new organization has no members, sites or keys. */
function formatNewOrganization({ id, name, created_at, version }: NewOrganization) {
  const nothing = { members: 0, owners: 0, sites: 0, keys: 0, events_30d: 0, bytes: 0 }
  return { id, name, ...nothing, created_at: instantText(created_at), version }
}

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
