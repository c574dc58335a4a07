import { type Static, Type as t } from "@sinclair/typebox"
import {
  type Actor,
  AppError,
  fault,
  inspect,
  mergedWith,
  type OwnStatements,
  parseId,
  refuseFaults,
  refuseOtherVersion,
  refuseStaleBody,
  type Site,
} from "#plugin"
import { withoutEmpty } from "../address.ts"
import { templateEntry } from "../audit-entries.ts"
import { linkError } from "../errors.ts"
import { UtmInput, versionOf } from "../input.ts"
import { LIMITS, type LinksHost, UTM_KEYS, type Utm } from "../link.ts"
import type { TemplateResponse } from "../responses.ts"
import { countTemplates, deleteTemplate, insertTemplate, listTemplates, type Template, templateById, updateTemplate } from "./rows.ts"

export const TemplateInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 100 }),
    fields: t.Optional(UtmInput),
    required: t.Optional(t.Array(t.Union(UTM_KEYS.map((key) => t.Literal(key))), { maxItems: UTM_KEYS.length, uniqueItems: true })),
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

export const formatTemplate = ({ id, site_id, name, fields, required, version }: Template): TemplateResponse => ({
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
