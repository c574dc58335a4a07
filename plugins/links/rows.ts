/** The tables of links, domains and campaign templates. */
import { type Host, type NamedThings, type OwnStatements, type Site, slugKey, sql, type Trash } from "#plugin"
import { linkError } from "./errors.ts"
import type { Link, LinkFields, Rule, Utm } from "./link.ts"

const LINK = sql`id, site_id, domain_id, slug, destination, title, notes, tags_json, redirect_status, forward_query, forward_path,
  utm_json, utm_mode, starts_at, expires_at, expired_destination, max_clicks, password_hash, password_version, rules_json, noindex,
  archived_at, clicks_human, clicks_bot, clicks_qr, last_click_at, created_by, version, created_at, updated_at, deleted_at`

interface LinkRow extends Omit<Link, "tags" | "utm" | "rules" | "forward_query" | "forward_path" | "noindex"> {
  tags_json: string
  utm_json: string
  rules_json: string
  forward_query: number
  forward_path: number
  noindex: number
}

const linkOf = ({ tags_json, utm_json, rules_json, forward_query, forward_path, noindex, ...row }: LinkRow): Link => ({
  ...row,
  tags: JSON.parse(tags_json) as string[],
  utm: JSON.parse(utm_json) as Utm,
  rules: JSON.parse(rules_json) as Rule[],
  forward_query: forward_query === 1,
  forward_path: forward_path === 1,
  noindex: noindex === 1,
})

/** The slugs of links, for each link domain and for the hosts of the instance, which have no domain. */
export const linkSlugs = ({ slugs }: Pick<Host, "slugs">) =>
  slugs({ thing: "link", table: "links_links", reserved: "links_tombstones", scope: "domain_id" })

export const linkTrash = (host: Pick<Host, "slugs" | "trash">): Trash<Link> =>
  host.trash({
    thing: "link",
    table: "links_links",
    columns: LINK,
    read: linkOf,
    label: ({ title, slug }) => title || slug,
    notFound: () => linkError("link_not_found", "This link doesn't exist on the site, or it was deleted."),
    slugs: linkSlugs(host),
  })

/** Returns the links as objects that dashboards name, by their slugs. */
export const namedLinks = ({ db }: Pick<Host, "db">): NamedThings => ({
  nameOf: async (site, id) =>
    (await db.get<{ slug: string }>(sql`select slug from links_links where id = ${id} and site_id = ${site.id} and deleted_at is null`))
      ?.slug,
  // A slug can exist on several domains.
  idOf: async (site, slug) =>
    (
      await db.get<{ id: number }>(sql`select id from links_links
        where site_id = ${site.id} and slug_key = ${slugKey(slug)} and deleted_at is null order by id limit 1`)
    )?.id,
})

/** Returns links of all sites by ascending id, without deleted ones. */
export const listLinks = async (statements: OwnStatements, after: number, limit: number): Promise<Link[]> =>
  (
    await statements.all<LinkRow>(
      sql`select ${LINK} from links_links where id > ${after} and deleted_at is null order by id limit ${limit}`,
    )
  ).map(linkOf)

/** Returns links by id, without deleted ones. */
export const linksByIds = async (statements: OwnStatements, ids: readonly number[]): Promise<Link[]> =>
  (
    await statements.all<LinkRow>(
      sql`select ${LINK} from links_links where id in (select value from json_each(${JSON.stringify(ids)})) and deleted_at is null`,
    )
  ).map(linkOf)

export interface Password {
  hash: string | null
  version: number
}

export async function insertLink(
  statements: OwnStatements,
  fields: LinkFields,
  created: { siteId: number; password: Password; createdBy: number | null; now: number },
): Promise<Link> {
  const { siteId, password, createdBy, now } = created
  const inserted = await statements.get<{ id: number }>(sql`
    insert into links_links (site_id, domain_id, slug, slug_key, destination, title, notes, tags_json, redirect_status, forward_query,
      forward_path, utm_json, utm_mode, starts_at, expires_at, expired_destination, max_clicks, password_hash, password_version, rules_json,
      noindex, created_by, created_at, updated_at)
    values (${siteId}, ${fields.domain_id}, ${fields.slug}, ${slugKey(fields.slug)}, ${fields.destination}, ${fields.title}, ${fields.notes},
      ${JSON.stringify(fields.tags)}, ${fields.redirect_status}, ${Number(fields.forward_query)}, ${Number(fields.forward_path)},
      ${JSON.stringify(fields.utm)}, ${fields.utm_mode}, ${fields.starts_at}, ${fields.expires_at}, ${fields.expired_destination},
      ${fields.max_clicks}, ${password.hash}, ${password.version}, ${JSON.stringify(fields.rules)}, ${Number(fields.noindex)}, ${createdBy},
      ${now}, ${now})
    returning id`)
  const { domain_id, slug, destination, title, notes, tags, redirect_status, forward_query, forward_path, utm, utm_mode } = fields
  const { starts_at, expires_at, expired_destination, max_clicks, rules, noindex } = fields
  // Composed instead of read back: reading 32 columns takes as long as writing them, and batches write thousands of rows.
  return {
    id: inserted!.id, // an insert that does not fail returns its row
    site_id: siteId,
    ...{ domain_id, slug, destination, title, notes, tags, redirect_status, forward_query, forward_path, utm, utm_mode },
    ...{ starts_at, expires_at, expired_destination, max_clicks, rules, noindex },
    password_hash: password.hash,
    password_version: password.version,
    archived_at: null,
    clicks_human: 0,
    clicks_bot: 0,
    clicks_qr: 0,
    last_click_at: null,
    created_by: createdBy,
    version: 1,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  }
}

/** Writes a link, which was read in the same transaction, with its changes. Returns the stored link. */
export async function updateLink(
  statements: OwnStatements,
  wanted: Link,
  { password, now }: { password: Password; now: number },
): Promise<Link> {
  await statements.run(sql`
    update links_links set domain_id = ${wanted.domain_id}, slug = ${wanted.slug}, slug_key = ${slugKey(wanted.slug)},
      destination = ${wanted.destination}, title = ${wanted.title}, notes = ${wanted.notes}, tags_json = ${JSON.stringify(wanted.tags)},
      redirect_status = ${wanted.redirect_status}, forward_query = ${Number(wanted.forward_query)},
      forward_path = ${Number(wanted.forward_path)}, utm_json = ${JSON.stringify(wanted.utm)}, utm_mode = ${wanted.utm_mode},
      starts_at = ${wanted.starts_at}, expires_at = ${wanted.expires_at}, expired_destination = ${wanted.expired_destination},
      max_clicks = ${wanted.max_clicks}, password_hash = ${password.hash}, password_version = ${password.version},
      rules_json = ${JSON.stringify(wanted.rules)}, noindex = ${Number(wanted.noindex)}, archived_at = ${wanted.archived_at},
      deleted_at = ${wanted.deleted_at}, version = ${wanted.version + 1}, updated_at = ${now}
    where id = ${wanted.id}`)
  const { hash: password_hash, version: password_version } = password
  return { ...wanted, password_hash, password_version, version: wanted.version + 1, updated_at: now }
}

/** Clicks to add to the counters of a link. */
export interface NewClicks {
  human: number
  bot: number
  qr: number
  lastAt: number
}

/** Returns undefined if the link was removed. */
export async function addClicks(statements: OwnStatements, id: number, { human, bot, qr, lastAt }: NewClicks): Promise<Link | undefined> {
  const row = await statements.get<LinkRow>(sql`
    update links_links set clicks_human = clicks_human + ${human}, clicks_bot = clicks_bot + ${bot}, clicks_qr = clicks_qr + ${qr},
      last_click_at = max(ifnull(last_click_at, 0), ${lastAt})
    where id = ${id} returning ${LINK}`)
  return row && linkOf(row)
}

/** Host that an organization uses for its short links. */
export interface Domain {
  id: number
  organization_id: number
  host: string
  token: string
  verified_at: number | null
  /** Destination of the root path. */
  root_destination: string | null
  /** Destination of unknown slugs. */
  not_found_destination: string | null
  version: number
  created_at: number
  updated_at: number
}

const DOMAIN = sql`id, organization_id, host, token, verified_at, root_destination, not_found_destination, version, created_at, updated_at`

export const listAllDomains = (statements: OwnStatements, after: number, limit: number): Promise<Domain[]> =>
  statements.all(sql`select ${DOMAIN} from links_domains where id > ${after} order by id limit ${limit}`)

export const domainsByIds = (statements: OwnStatements, ids: readonly number[]): Promise<Domain[]> =>
  statements.all(sql`select ${DOMAIN} from links_domains where id in (select value from json_each(${JSON.stringify(ids)}))`)

export const listDomains = (statements: OwnStatements, organizationId: number): Promise<Domain[]> =>
  statements.all(sql`select ${DOMAIN} from links_domains where organization_id = ${organizationId} order by id`)

export const domainById = (statements: OwnStatements, organizationId: number, id: number): Promise<Domain | undefined> =>
  statements.get(sql`select ${DOMAIN} from links_domains where organization_id = ${organizationId} and id = ${id}`)

export const domainByHost = (statements: OwnStatements, host: string): Promise<Domain | undefined> =>
  statements.get(sql`select ${DOMAIN} from links_domains where host = ${host}`)

export async function insertDomain(
  statements: OwnStatements,
  {
    organization_id,
    host,
    token,
    root_destination,
    not_found_destination,
    created_at,
  }: Omit<Domain, "id" | "verified_at" | "version" | "updated_at">,
): Promise<Domain> {
  const inserted = await statements.get<Domain>(sql`
    insert into links_domains (organization_id, host, token, root_destination, not_found_destination, created_at, updated_at)
    values (${organization_id}, ${host}, ${token}, ${root_destination}, ${not_found_destination}, ${created_at}, ${created_at})
    returning ${DOMAIN}`)
  return inserted! // an insert that does not fail returns its row
}

export async function updateDomain(
  statements: OwnStatements,
  { id, verified_at, root_destination, not_found_destination }: Domain,
  now: number,
): Promise<Domain> {
  const changed = await statements.get<Domain>(sql`
    update links_domains set verified_at = ${verified_at}, root_destination = ${root_destination},
      not_found_destination = ${not_found_destination}, version = version + 1, updated_at = ${now}
    where id = ${id} returning ${DOMAIN}`)
  return changed! // found in the same transaction
}

export const deleteDomain = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from links_domains where id = ${id}`)

/** Returns how many links use a domain, without deleted ones. */
export const countLinksOnDomain = async (statements: OwnStatements, id: number): Promise<number> =>
  (await statements.get<{ n: number }>(sql`select count(*) as n from links_links where domain_id = ${id} and deleted_at is null limit 1`))!
    .n

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

const TEMPLATE = sql`id, organization_id, site_id, name, fields_json, required_json, version, created_at, updated_at`
const templateOf = ({ fields_json, required_json, ...row }: TemplateRow): Template => ({
  ...row,
  fields: JSON.parse(fields_json) as Utm,
  required: JSON.parse(required_json) as (keyof Utm)[],
})

/** Condition for the templates that a site can use: its own and those of all sites. */
const ofSite = ({ id, organization_id }: Site) => sql`organization_id = ${organization_id} and (site_id is null or site_id = ${id})`

export async function templateById(statements: OwnStatements, site: Site, id: number): Promise<Template | undefined> {
  const row = await statements.get<TemplateRow>(sql`select ${TEMPLATE} from links_utm_templates where id = ${id} and ${ofSite(site)}`)
  return row && templateOf(row)
}

export const listTemplates = async (statements: OwnStatements, site: Site): Promise<Template[]> =>
  (await statements.all<TemplateRow>(sql`select ${TEMPLATE} from links_utm_templates where ${ofSite(site)} order by id`)).map(templateOf)

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
    on conflict do nothing returning ${TEMPLATE}`)
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
    where id = ${id} returning ${TEMPLATE}`)
  return row && templateOf(row)
}

export const deleteTemplate = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from links_utm_templates where id = ${id}`)
