import { Type as t } from "@sinclair/typebox"
import { etagOf, Instant, NoQuery, orNull, readNothing, Sent, type Site, versionsIn } from "#plugin"
import type { Area } from "../area.ts"
import type { Domain } from "../domain-rows.ts"
import { Id, refuses, says, takes } from "../shown.ts"
import type { Template } from "../templates/rows.ts"
import { shownTemplate, TemplateInput } from "../templates/templates.ts"
import { DomainInput, DomainPatch, shownDomain } from "./domains.ts"

const TemplateShown = t.Object(
  {
    id: Id,
    name: t.String(),
    fields: t.Record(t.String(), t.String()),
    required: t.Array(t.String()),
    all_sites: t.Boolean(),
    version: t.Integer(),
  },
  { title: "UtmTemplate" },
)
const DomainShown = t.Object(
  {
    id: Id,
    host: t.String(),
    verified_at: orNull(Instant),
    txt_record: orNull(t.String({ description: "TXT record that verifies the host. Null without permission to verify it." })),
    file: orNull(t.Object({ path: t.String(), content: t.String() })),
    root_destination: orNull(t.String()),
    not_found_destination: orNull(t.String()),
    version: t.Integer(),
  },
  { title: "LinkDomain" },
)
const ADDRESSES = ["invalid_destination", "destination_not_allowed"]
const some = (schema: ReturnType<typeof t.Object>) => takes(t.Partial(t.Object({ ...schema.properties, version: Id })))
type Params = Record<string, string | undefined>
type Headers = { headers: Record<string, unknown> }

/** Campaign fields to begin with. */
export function templateRoutes({ host, templates }: Area) {
  const find = async (params: Params, { site }: { site?: Site }) => void (await templates.get(site!, params.id)) // below a site
  const tagged = ({ headers }: Headers, template: Template) => {
    headers.etag = etagOf(template)
    return shownTemplate(template)
  }
  return host
    .siteRouter()
    .get("/utm-templates", async ({ site }) => ({ data: (await templates.list(site)).map(shownTemplate) }), {
      can: "links:read",
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(TemplateShown) }) },
      detail: says("utm-templates", "List campaign templates"),
    })
    .post(
      "/utm-templates",
      ({ site, actor, user, permissions, ...call }) =>
        host.create<Template, ReturnType<typeof shownTemplate>>(
          { ...call, user },
          (body, beside) => templates.create(site, actor, body, permissions, beside),
          (template) => ({
            location: `/api/private/sites/${site.id}/utm-templates/${template.id}`,
            etag: etagOf(template),
            body: shownTemplate(template),
          }),
        ),
      {
        can: "links:write",
        query: NoQuery,
        body: Sent,
        response: { 201: TemplateShown },
        detail: says("utm-templates", "Create a campaign template", { ...takes(TemplateInput), ...refuses("limit_reached", "forbidden") }),
      },
    )
    .get("/utm-templates/:id", async ({ site, params, set }) => tagged(set, await templates.get(site, params.id)), {
      can: "links:read",
      query: NoQuery,
      response: { 200: TemplateShown },
      detail: says("utm-templates", "Get a campaign template", refuses("template_not_found")),
    })
    .patch(
      "/utm-templates/:id",
      async ({ site, params, actor, permissions, body, request, set }) => {
        const terms = { expected: versionsIn(request.headers.get("if-match")), permissions }
        return tagged(set, await templates.update(site, params.id, actor, body.value, terms))
      },
      {
        can: { permission: "links:write", find },
        query: NoQuery,
        body: Sent,
        response: { 200: TemplateShown },
        detail: says("utm-templates", "Update a campaign template", {
          ...some(TemplateInput),
          ...refuses("template_not_found", "precondition_failed", "forbidden"),
        }),
      },
    )
    .delete(
      "/utm-templates/:id",
      async ({ site, params, actor, permissions, request, status }) => {
        await templates.remove(site, params.id, actor, { expected: versionsIn(request.headers.get("if-match")), permissions })
        return status(204, undefined)
      },
      {
        can: { permission: "links:write", find, read: readNothing },
        query: NoQuery,
        detail: says("utm-templates", "Delete a campaign template", refuses("template_not_found", "precondition_failed", "forbidden")),
      },
    )
}

/** Hosts for links. */
export function domainRoutes({ host, domains, links }: Area) {
  const find = async (params: Params, { site }: { site?: Site }) => void (await domains.get(site!.organization_id, params.id)) // below a site
  const mayProve = ({ permissions }: { permissions: ReadonlySet<string> }) => permissions.has("org:write")
  const tagged = ({ headers }: Headers, domain: Domain, isShownWhole: boolean) => {
    headers.etag = etagOf(domain)
    return shownDomain(domain, isShownWhole)
  }
  return host
    .siteRouter()
    .get(
      "/link-domains",
      async ({ site, permissions }) => ({
        data: (await domains.list(site.organization_id)).map((domain) => shownDomain(domain, mayProve({ permissions }))),
      }),
      {
        can: "links:read",
        query: NoQuery,
        response: { 200: t.Object({ data: t.Array(DomainShown) }) },
        detail: says("link-domains", "List link domains"),
      },
    )
    .post(
      "/link-domains",
      ({ site, actor, user, permissions, ...call }) =>
        host.create<Domain, ReturnType<typeof shownDomain>>(
          { ...call, user },
          (body, beside) => domains.create(site, actor, body, links.termsOf({ permissions }), beside),
          (domain) => ({
            location: `/api/private/sites/${site.id}/link-domains/${domain.id}`,
            etag: etagOf(domain),
            body: shownDomain(domain, true),
          }),
        ),
      {
        can: "org:write",
        query: NoQuery,
        body: Sent,
        response: { 201: DomainShown },
        detail: says("link-domains", "Add a link domain", {
          ...takes(DomainInput),
          ...refuses("domain_in_use", "limit_reached", ...ADDRESSES),
        }),
      },
    )
    .get(
      "/link-domains/:id",
      async ({ site, params, permissions, set }) =>
        tagged(set, await domains.get(site.organization_id, params.id), mayProve({ permissions })),
      {
        can: "links:read",
        query: NoQuery,
        response: { 200: DomainShown },
        detail: says("link-domains", "Get a link domain", refuses("domain_not_found")),
      },
    )
    .patch(
      "/link-domains/:id",
      async ({ site, params, actor, permissions, body, request, set }) => {
        const terms = { expected: versionsIn(request.headers.get("if-match")), destinations: links.termsOf({ permissions }) }
        return tagged(set, await domains.update(site, params.id, actor, body.value, terms), true)
      },
      {
        can: { permission: "org:write", find },
        query: NoQuery,
        body: Sent,
        response: { 200: DomainShown },
        detail: says("link-domains", "Update the destinations of a link domain", {
          ...some(DomainPatch),
          ...refuses("domain_not_found", "precondition_failed", ...ADDRESSES),
        }),
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
        detail: says("link-domains", "Remove a link domain", refuses("domain_not_found", "domain_in_use", "precondition_failed")),
      },
    )
    .post(
      "/link-domains/:id/verify",
      async ({ site, params, actor, set }) => tagged(set, await domains.verify(site, params.id, actor), true),
      {
        can: { permission: "org:write", find, read: readNothing },
        query: NoQuery,
        response: { 200: DomainShown },
        detail: says("link-domains", "Verify a link domain", refuses("domain_not_found", "domain_not_verified", "outbound_disabled")),
      },
    )
}
