import { type Static, Type as t } from "@sinclair/typebox"
import {
  type Actor,
  AppError,
  etagOf,
  failures,
  fault,
  field,
  inspect,
  mergedWith,
  NoQuery,
  type OwnStatements,
  operationsOf,
  parseId,
  readNothing,
  refuseFaults,
  refuseOtherVersion,
  refuseStaleBody,
  Sent,
  type Site,
  versionsIn,
} from "#plugin"
import { withoutEmpty } from "./address.ts"
import { type Area, finding } from "./area.ts"
import { templateEntry } from "./audit-entries.ts"
import { linkError } from "./errors.ts"
import { UtmInput, versionOf } from "./input.ts"
import { LIMITS, type LinksHost, UTM_KEYS, type Utm } from "./link.ts"
import { TemplateResponse } from "./responses.ts"
import { countTemplates, deleteTemplate, insertTemplate, listTemplates, type Template, templateById, updateTemplate } from "./rows.ts"

const TemplateInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 100, description: "Display name, unique within the organization." }),
    fields: t.Optional(UtmInput),
    required: t.Optional(
      t.Array(t.Union(UTM_KEYS.map((key) => t.Literal(key))), {
        maxItems: UTM_KEYS.length,
        uniqueItems: true,
        description: "Names of the campaign tags that a link with this template must have. Default: none.",
      }),
    ),
    all_sites: t.Optional(
      t.Boolean({ description: "Make the template available to all sites of the organization. Requires `org:write`." }),
    ),
  },
  { additionalProperties: false, title: "UtmTemplateInput" },
)
type TemplateFields = Pick<Template, "name" | "fields" | "required">

interface TemplateTerms {
  expected?: readonly number[] | undefined
  permissions: ReadonlySet<string>
}
type Alongside = (statements: OwnStatements, change: { before?: Template; after?: Template }) => Promise<void>

export interface Templates {
  list(site: Site): Promise<Template[]>
  /** Throws `template_not_found`. */
  get(site: Site, id: string | undefined): Promise<Template>
  create(site: Site, actor: Actor, body: unknown, permissions: ReadonlySet<string>, alongside: Alongside): Promise<Template>
  update(site: Site, id: string | undefined, actor: Actor, body: unknown, terms: TemplateTerms): Promise<Template>
  remove(site: Site, id: string | undefined, actor: Actor, terms: TemplateTerms): Promise<void>
}

export function createTemplates({ db, audit, now }: LinksHost): Templates {
  async function find(statements: OwnStatements, site: Site, named: string | undefined): Promise<Template> {
    const template = await templateById(statements, site, parseId(named) ?? 0)
    if (!template) throw linkError("template_not_found", "This campaign template doesn't exist.")
    return template
  }
  const write = (statements: OwnStatements, site: Site, actor: Actor, change: { verb: string; before?: Template; after?: Template }) =>
    audit.write(statements, actor, templateEntry({ site, ...change }))

  return {
    list: (site) => listTemplates(db, site),
    get: (site, id) => find(db, site, id),
    create(site, actor, body, permissions, alongside) {
      const { all_sites, ...fields } = readTemplate(body)
      const site_id = all_sites ? null : site.id
      refuseUnpermitted({ site_id }, permissions)
      return db.transaction(async (statements) => {
        if ((await countTemplates(statements, site.organization_id)) >= LIMITS.templates) throw tooMany()
        const wanted = { ...fields, organization_id: site.organization_id, site_id, created_at: now() }
        const template = await insertTemplate(statements, wanted)
        if (!template) throw nameTaken()
        await write(statements, site, actor, { verb: "create", after: template })
        await alongside(statements, { after: template })
        return template
      })
    },
    update(site, id, actor, body, { expected, permissions }) {
      const { version, patch } = versionOf(body)
      return db.transaction(async (statements) => {
        const before = await find(statements, site, id)
        refuseUnpermitted(before, permissions)
        const { name, fields, required } = before
        const { all_sites: _, ...wanted } = readTemplate(mergedWith({ name, fields, required }, patch))
        refuseStaleBody(before, version, formatTemplate)
        refuseOtherVersion(before, expected)
        if (Bun.deepEquals(wanted, { name, fields, required })) return before
        const after = await updateTemplate(statements, { ...before, ...wanted }, now())
        if (!after) throw nameTaken()
        await write(statements, site, actor, { verb: "update", before, after })
        return after
      })
    },
    async remove(site, id, actor, { expected, permissions }) {
      await db.transaction(async (statements) => {
        const before = await find(statements, site, id)
        refuseUnpermitted(before, permissions)
        refuseOtherVersion(before, expected)
        await deleteTemplate(statements, before.id)
        await write(statements, site, actor, { verb: "delete", before })
      })
    },
  }
}

function readTemplate(body: unknown): TemplateFields & { all_sites: boolean } {
  const { fields, faults } = inspect(TemplateInput, body)
  refuseFaults(faults)
  const { name, fields: utm = {}, required = [], all_sites = false } = fields as Static<typeof TemplateInput>
  return { name, fields: withoutEmpty(utm as Utm), required: required as (keyof Utm)[], all_sites }
}

/** Throws `forbidden` if a template is shared by all sites and the user cannot change the organization. */
function refuseUnpermitted({ site_id }: Pick<Template, "site_id">, permissions: ReadonlySet<string>): void {
  if (site_id === null && !permissions.has("org:write"))
    throw new AppError("forbidden", "This template is shared by all sites of the organization. Changing it requires an owner or admin.", {
      required_permission: "org:write",
    })
}

const formatTemplate = ({ id, site_id, name, fields, required, version }: Template): TemplateResponse => ({
  id,
  name,
  fields,
  required: [...required],
  all_sites: site_id === null,
  version,
})

const nameTaken = () =>
  new AppError("validation_failed", "1 field is not valid.", {
    errors: [fault("/name", "not_unique", "is already the name of another template")],
  })
const tooMany = () =>
  new AppError("limit_reached", `An organization can have at most ${LIMITS.templates} templates.`, {
    limit: LIMITS.templates,
    resource: "utm_templates",
  })

const operation = operationsOf("utm-templates")
const TemplatePatch = t.Partial(t.Object({ ...TemplateInput.properties, version: field.id("Version that the change is based on.") }))

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
      response: { 200: t.Object({ data: t.Array(TemplateResponse, { description: "Campaign templates that the site can use." }) }) },
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
