import { type OwnStatements, type Site, sql } from "#plugin"
import type { Utm } from "../link.ts"

/** Campaign tags to start a link with. */
export interface Template {
  id: number
  organization_id: number
  /** Null if the template is available to all sites of the organization. */
  site_id: number | null
  name: string
  fields: Utm
  /** Tags that a link with this template must have. */
  required: readonly (keyof Utm)[]
  version: number
  created_at: number
  updated_at: number
}

interface TemplateRow extends Omit<Template, "fields" | "required"> {
  fields_json: string
  required_json: string
}

const COLUMNS = sql`id, organization_id, site_id, name, fields_json, required_json, version, created_at, updated_at`
const templateOf = ({ fields_json, required_json, ...row }: TemplateRow): Template => ({
  ...row,
  fields: JSON.parse(fields_json) as Utm,
  required: JSON.parse(required_json) as (keyof Utm)[],
})

/** Condition for the templates that a site can use: its own and those of all sites. */
const ofSite = ({ id, organization_id }: Site) => sql`organization_id = ${organization_id} and (site_id is null or site_id = ${id})`

export async function templateById(statements: OwnStatements, site: Site, id: number): Promise<Template | undefined> {
  const row = await statements.get<TemplateRow>(sql`select ${COLUMNS} from links_utm_templates where id = ${id} and ${ofSite(site)}`)
  return row && templateOf(row)
}

export const listTemplates = async (statements: OwnStatements, site: Site): Promise<Template[]> =>
  (await statements.all<TemplateRow>(sql`select ${COLUMNS} from links_utm_templates where ${ofSite(site)} order by id`)).map(templateOf)

export const countTemplates = async (statements: OwnStatements, organizationId: number): Promise<number> =>
  (await statements.get<{ n: number }>(sql`select count(*) as n from links_utm_templates where organization_id = ${organizationId}`))!.n

/** Returns undefined if the organization already has a template with this name. */
export async function insertTemplate(
  statements: OwnStatements,
  { organization_id, site_id, name, fields, required, created_at }: Omit<Template, "id" | "version" | "updated_at">,
): Promise<Template | undefined> {
  const row = await statements.get<TemplateRow>(sql`
    insert into links_utm_templates (organization_id, site_id, name, name_key, fields_json, required_json, created_at, updated_at)
    values (${organization_id}, ${site_id}, ${name}, ${name.toLowerCase()}, ${JSON.stringify(fields)}, ${JSON.stringify(required)},
      ${created_at}, ${created_at})
    on conflict do nothing returning ${COLUMNS}`)
  return row && templateOf(row)
}

export async function updateTemplate(
  statements: OwnStatements,
  { id, name, fields, required }: Template,
  now: number,
): Promise<Template | undefined> {
  const row = await statements.get<TemplateRow>(sql`
    update or ignore links_utm_templates set name = ${name}, name_key = ${name.toLowerCase()}, fields_json = ${JSON.stringify(fields)},
      required_json = ${JSON.stringify(required)}, version = version + 1, updated_at = ${now}
    where id = ${id} returning ${COLUMNS}`)
  return row && templateOf(row)
}

export const deleteTemplate = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from links_utm_templates where id = ${id}`)
