import { Type as t } from "@sinclair/typebox"
import {
  AppError,
  type Deed,
  type Host,
  instantText,
  pageOfAll,
  parseId,
  readOptionalJson,
  readPaging,
  readPlainPaging,
  versionsIn,
} from "#plugin"
import { refuses, SENT } from "./sent.ts"
import { AnyQuery, Id, Instant, NoQuery, Page, Sent, says, tagged } from "./shapes.ts"

const OrganizationShown = t.Object(
  {
    id: Id,
    name: t.String(),
    members: t.Integer(),
    owners: t.Integer(),
    sites: t.Integer(),
    keys: t.Integer(),
    events_30d: t.Integer(),
    bytes: t.Integer(),
    created_at: Instant,
    version: t.Integer(),
  },
  { title: "InstanceOrganization" },
)

const MemberShown = t.Object({
  user: t.Object({ id: Id, name: t.String(), email: t.String() }),
  role: t.String(),
  mfa: t.Boolean(),
  last_seen_at: t.Union([Instant, t.Null()]),
  joined_at: Instant,
  version: t.Integer(),
})

/** Organizations and who belongs to them; their sites' data stays theirs. */
export const organizationRoutes = (host: Host) => {
  const { organizations } = host.services
  const { lists, members } = host.services.console
  type Facts = Awaited<ReturnType<typeof lists.organizations>>[number]

  const find = async ({ id }: Record<string, string | undefined>) => {
    const found = await organizations.get(parseId(id) ?? 0)
    if (!found) throw new AppError("organization_not_found", "No organization has this id")
    return found
  }
  const finding = { find: async (params: Record<string, string | undefined>) => void (await find(params)) }

  /** With what its sites have taken in. */
  async function shown({ created_at, ...facts }: Facts) {
    const own = (await host.services.sites.list(facts.id)).map(({ id }) => id)
    const figures = [...(await lists.figures(own)).values()]
    return {
      ...facts,
      events_30d: figures.reduce((sum, { events_30d }) => sum + events_30d, 0),
      bytes: figures.reduce((sum, { bytes }) => sum + bytes, 0),
      created_at: instantText(created_at),
    }
  }
  const shownById = async (id: number) => shown((await lists.organizations()).find((facts) => facts.id === id)!) // it was just found
  const deed =
    (verb: string) =>
    ({ id, name }: { id: number; name: string }): Deed => ({
      action: `admin.organization.${verb}`,
      target: { type: "organization", id, label: name },
      organizationId: id,
    })
  const memberDeed =
    (verb: string, organizationId: number) =>
    ({ user_id, email }: { user_id: number; email: string }): Deed => ({
      action: `admin.member.${verb}`,
      target: { type: "user", id: user_id, label: email },
      organizationId,
    })

  return host
    .instanceRouter()
    .get(
      "/admin/organizations",
      async ({ query }) => {
        const paging = readPaging("admin/organizations", query, ["q"], (reader) => ({ q: reader.text("q", { min: 0, max: 200 }) ?? "" }))
        const part = paging.filters.q.toLowerCase()
        const all = (await lists.organizations()).filter(({ name }) => name.toLowerCase().includes(part))
        const page = await pageOfAll(paging, all)
        const data = []
        for (const facts of page.data) data.push(await shown(facts))
        return { ...page, data }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Page(OrganizationShown) }, detail: says("List organizations") },
    )
    .post(
      "/admin/organizations",
      async ({ actor, body, set }) => {
        const made = await organizations.create(body.value, { alongside: host.audit.recorded(actor, deed("create")) })
        set.status = 201
        set.headers.location = `/api/private/admin/organizations/${made.id}`
        return tagged(set, made, await shownById(made.id))
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 201: OrganizationShown },
        detail: says("Make an organization", SENT.organization),
      },
    )
    .get(
      "/admin/organizations/:id",
      async ({ params, set }) => {
        const facts = await shownById((await find(params)).id)
        return tagged(set, facts, facts)
      },
      { instanceAdmin: finding, query: NoQuery, response: { 200: OrganizationShown }, detail: says("Read an organization") },
    )
    .patch(
      "/admin/organizations/:id",
      async ({ actor, params, body, request, set }) => {
        const { id } = await find(params)
        const present = await shownById(id)
        const changed = await organizations.update(id, body.value, {
          alongside: host.audit.recorded(actor, deed("update")),
          expected: versionsIn(request.headers.get("if-match")),
          current: () => present,
        })
        return tagged(set, changed, await shownById(id))
      },
      {
        instanceAdmin: finding,
        query: NoQuery,
        body: Sent,
        response: { 200: OrganizationShown },
        detail: { ...says("Change name or policy", SENT.organizationPatch), ...refuses("precondition_failed") },
      },
    )
    .delete(
      "/admin/organizations/:id",
      async ({ actor, user, params, body, request, set }) => {
        const { id } = await find(params)
        const alongside = host.audit.recorded(actor, deed("delete"))
        await organizations.remove(id, body.value, user.id, { alongside, expected: versionsIn(request.headers.get("if-match")) })
        set.status = 202
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        detail: {
          ...says("Delete an organization with its sites", SENT.confirmation),
          ...refuses("precondition_failed"),
          responses: { 202: { description: "Its sites go within the next minutes." } },
        },
      },
    )
    .get(
      "/admin/organizations/:id/members",
      async ({ params, query }) => {
        const paging = readPlainPaging("admin/members", query)
        const page = await pageOfAll(paging, await members.list((await find(params)).id))
        return { ...page, data: page.data.map(shownMember) }
      },
      { instanceAdmin: finding, query: AnyQuery, response: { 200: Page(MemberShown) }, detail: says("List members") },
    )
    .put(
      "/admin/organizations/:id/members/:user",
      async ({ actor, params, body, request }) => {
        const { id } = await find(params)
        const expected = versionsIn(request.headers.get("if-match"))
        return shownMember(
          await members.put(id, params.user, body.value, { alongside: host.audit.recorded(actor, memberDeed("put", id)), expected }),
        )
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 200: MemberShown },
        detail: {
          ...says("Make a user a member, or change the role", SENT.member),
          ...refuses("last_owner", "precondition_failed", "version_conflict", "limit_reached"),
        },
      },
    )
    .delete(
      "/admin/organizations/:id/members/:user",
      async ({ actor, params, body, status }) => {
        const { id } = await find(params)
        await members.remove(id, params.user, body.value, "instance", { alongside: host.audit.recorded(actor, memberDeed("remove", id)) })
        return status(204, undefined)
      },
      {
        instanceAdmin: { ...finding, sudo: true, read: readOptionalJson(64 << 10) },
        query: NoQuery,
        body: Sent,
        detail: { ...says("Remove a member", SENT.memberRemoval), ...refuses("last_owner") },
      },
    )
}

const shownMember = (member: {
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
  last_seen_at: member.last_seen_at === null ? null : instantText(member.last_seen_at),
  joined_at: instantText(member.created_at),
  version: member.version,
})
