import { AnyQuery, type AuditEntry, etagOf, type Host, NoQuery, Paged, pageOfAll, readPaging, Sent, versionsIn } from "#plugin"
import {
  findingOrganization,
  type NewOrganization,
  OrganizationShown,
  organizationOf,
  shownNewOrganization,
  shownOrganization,
  shownOrganizationById,
} from "./organization-facts.ts"
import { readSearch } from "./search.ts"
import { refuses, SENT } from "./sent.ts"
import { says, tagged } from "./shapes.ts"

/** Organizations; their sites' data stays theirs. */
export const organizationRoutes = (host: Host) => {
  const { organizations } = host.services
  const { lists } = host.services.console
  const finding = findingOrganization(host)
  const deed =
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
        for (const facts of page.data) data.push(await shownOrganization(host, facts))
        return { ...page, data }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(OrganizationShown) }, detail: says("List organizations") },
    )
    .post(
      "/admin/organizations",
      ({ actor, ...call }) =>
        host.create(
          call,
          (body, kept) => {
            const record = host.audit.recorded(actor, deed("create"))
            return organizations.create(body, {
              async alongside(statements, change) {
                await record(statements, change)
                await kept(statements, change)
              },
            })
          },
          (made: NewOrganization) => ({
            location: `/api/private/admin/organizations/${made.id}`,
            etag: etagOf(made),
            body: shownNewOrganization(made),
          }),
        ),
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 201: OrganizationShown },
        detail: says("Create an organization", SENT.organization),
      },
    )
    .get(
      "/admin/organizations/:id",
      async ({ params, set }) => {
        const facts = await shownOrganizationById(host, (await organizationOf(host, params)).id)
        return tagged(set, facts, facts)
      },
      { instanceAdmin: finding, query: NoQuery, response: { 200: OrganizationShown }, detail: says("Get an organization") },
    )
    .patch(
      "/admin/organizations/:id",
      async ({ actor, params, body, request, set }) => {
        const { id } = await organizationOf(host, params)
        const present = await shownOrganizationById(host, id)
        const changed = await organizations.update(id, body.value, {
          alongside: host.audit.recorded(actor, deed("update")),
          expected: versionsIn(request.headers.get("if-match")),
          current: () => present,
        })
        return tagged(set, changed, await shownOrganizationById(host, id))
      },
      {
        instanceAdmin: finding,
        query: NoQuery,
        body: Sent,
        response: { 200: OrganizationShown },
        detail: { ...says("Update an organization", SENT.organizationPatch), ...refuses("precondition_failed") },
      },
    )
    .delete(
      "/admin/organizations/:id",
      async ({ actor, user, params, body, request, set }) => {
        const { id } = await organizationOf(host, params)
        const alongside = host.audit.recorded(actor, deed("delete"))
        await organizations.remove(id, body.value, user.id, { alongside, expected: versionsIn(request.headers.get("if-match")) })
        set.status = 202
      },
      {
        instanceAdmin: { ...finding, sudo: true },
        query: NoQuery,
        body: Sent,
        detail: {
          ...says("Delete an organization and its sites", SENT.confirmation),
          ...refuses("precondition_failed"),
          responses: { 202: { description: "The sites of the organization are deleted within the next minutes." } },
        },
      },
    )
}
