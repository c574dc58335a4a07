import { Type as t } from "@sinclair/typebox"
import { etagOf, failures, NoQuery, operationsOf, readNothing, Sent, versionsIn } from "#plugin"
import { type Area, finding } from "../area.ts"
import type { Domain } from "../domain-rows.ts"
import { DomainResponse, Id } from "../responses.ts"
import { DomainInput, DomainPatch, formatDomain } from "./domains.ts"

const operation = operationsOf("link-domains")
const DESTINATIONS = ["invalid_destination", "destination_not_allowed"]
const DomainPatchBody = t.Partial(t.Object({ ...DomainPatch.properties, version: Id }))

/** Routes for link domains. */
export function domainRoutes({ host, domains, links }: Area) {
  const find = finding((site, id) => domains.get(site.organization_id, id))
  const mayVerify = ({ permissions }: { permissions: ReadonlySet<string> }) => permissions.has("org:write")
  const tagged = ({ headers }: { headers: Record<string, unknown> }, domain: Domain, isVerifier: boolean) => {
    headers.etag = etagOf(domain)
    return formatDomain(domain, isVerifier)
  }
  return host
    .siteRouter()
    .get(
      "/link-domains",
      async ({ site, permissions }) => ({
        data: (await domains.list(site.organization_id)).map((domain) => formatDomain(domain, mayVerify({ permissions }))),
      }),
      {
        can: "links:read",
        query: NoQuery,
        response: { 200: t.Object({ data: t.Array(DomainResponse) }) },
        detail: operation("List link domains"),
      },
    )
    .post(
      "/link-domains",
      ({ site, actor, user, permissions, ...call }) =>
        host.create<Domain, DomainResponse>(
          { ...call, user },
          (body, alongside) => domains.create(site, actor, body, links.destinationTerms({ permissions }), alongside),
          (domain) => ({
            location: `/api/private/sites/${site.id}/link-domains/${domain.id}`,
            etag: etagOf(domain),
            body: formatDomain(domain, true),
          }),
        ),
      {
        can: "org:write",
        query: NoQuery,
        body: Sent,
        response: { 201: DomainResponse },
        detail: { ...operation("Add a link domain", DomainInput), ...failures("domain_in_use", "limit_reached", ...DESTINATIONS) },
      },
    )
    .get(
      "/link-domains/:id",
      async ({ site, params, permissions, set }) =>
        tagged(set, await domains.get(site.organization_id, params.id), mayVerify({ permissions })),
      {
        can: "links:read",
        query: NoQuery,
        response: { 200: DomainResponse },
        detail: { ...operation("Get a link domain"), ...failures("domain_not_found") },
      },
    )
    .patch(
      "/link-domains/:id",
      async ({ site, params, actor, permissions, body, request, set }) => {
        const terms = { expected: versionsIn(request.headers.get("if-match")), destinations: links.destinationTerms({ permissions }) }
        return tagged(set, await domains.update(site, params.id, actor, body.value, terms), true)
      },
      {
        can: { permission: "org:write", find },
        query: NoQuery,
        body: Sent,
        response: { 200: DomainResponse },
        detail: {
          ...operation("Update the destinations of a link domain", DomainPatchBody),
          ...failures("domain_not_found", "precondition_failed", ...DESTINATIONS),
        },
      },
    )
    .delete(
      "/link-domains/:id",
      async ({ site, params, actor, request, status }) => {
        await domains.remove(site, params.id, actor, versionsIn(request.headers.get("if-match")))
        return status(204, undefined)
      },
      {
        can: { permission: "org:write", find, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Remove a link domain"), ...failures("domain_not_found", "domain_in_use", "precondition_failed") },
      },
    )
    .post(
      "/link-domains/:id/verify",
      async ({ site, params, actor, set }) => tagged(set, await domains.verify(site, params.id, actor), true),
      {
        can: { permission: "org:write", find, read: readNothing },
        query: NoQuery,
        response: { 200: DomainResponse },
        detail: { ...operation("Verify a link domain"), ...failures("domain_not_found", "domain_not_verified", "outbound_disabled") },
      },
    )
}
