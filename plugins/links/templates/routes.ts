import { Type as t } from "@sinclair/typebox"
import { etagOf, failures, NoQuery, operationsOf, readNothing, Sent, versionsIn } from "#plugin"
import { type Area, finding } from "../area.ts"
import { Id, TemplateResponse } from "../responses.ts"
import type { Template } from "./rows.ts"
import { formatTemplate, TemplateInput } from "./templates.ts"

const operation = operationsOf("utm-templates")
const TemplatePatch = t.Partial(t.Object({ ...TemplateInput.properties, version: Id }))

/** Routes for campaign templates. */
export function templateRoutes({ host, templates }: Area) {
  const find = finding(templates.get)
  const tagged = ({ headers }: { headers: Record<string, unknown> }, template: Template) => {
    headers.etag = etagOf(template)
    return formatTemplate(template)
  }
  return host
    .siteRouter()
    .get("/utm-templates", async ({ site }) => ({ data: (await templates.list(site)).map(formatTemplate) }), {
      can: "links:read",
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(TemplateResponse) }) },
      detail: operation("List campaign templates"),
    })
    .post(
      "/utm-templates",
      ({ site, actor, user, permissions, ...call }) =>
        host.create<Template, TemplateResponse>(
          { ...call, user },
          (body, alongside) => templates.create(site, actor, body, permissions, alongside),
          (template) => ({
            location: `/api/private/sites/${site.id}/utm-templates/${template.id}`,
            etag: etagOf(template),
            body: formatTemplate(template),
          }),
        ),
      {
        can: "links:write",
        query: NoQuery,
        body: Sent,
        response: { 201: TemplateResponse },
        detail: { ...operation("Create a campaign template", TemplateInput), ...failures("limit_reached", "forbidden") },
      },
    )
    .get("/utm-templates/:id", async ({ site, params, set }) => tagged(set, await templates.get(site, params.id)), {
      can: "links:read",
      query: NoQuery,
      response: { 200: TemplateResponse },
      detail: { ...operation("Get a campaign template"), ...failures("template_not_found") },
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
        response: { 200: TemplateResponse },
        detail: {
          ...operation("Update a campaign template", TemplatePatch),
          ...failures("template_not_found", "precondition_failed", "forbidden"),
        },
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
        detail: { ...operation("Delete a campaign template"), ...failures("template_not_found", "precondition_failed", "forbidden") },
      },
    )
}
