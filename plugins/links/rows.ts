import { type FoldPosition, type OwnStatements, type Sql, slugKey, sql } from "#plugin"
import type { Link, LinkFields, Rule, Utm } from "./link.ts"

const COLUMNS = sql`id, site_id, domain_id, slug, destination, title, notes, tags_json, redirect_status, forward_query, forward_path,
  utm_json, utm_mode, starts_at, expires_at, expired_destination, max_clicks, password_hash, password_version, rules_json, noindex,
  archived_at, clicks_human, clicks_bot, clicks_qr, last_click_at, counted_to, created_by, version, created_at, updated_at, deleted_at`

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

const one = async (statements: OwnStatements, statement: Sql): Promise<Link | undefined> => {
  const row = await statements.get<LinkRow>(statement)
  return row && linkOf(row)
}

/** Of all sites, by id ascending; deleted ones are left out. */
export const listLinks = async (statements: OwnStatements, after: number, limit: number): Promise<Link[]> =>
  (
    await statements.all<LinkRow>(
      sql`select ${COLUMNS} from links_links where id > ${after} and deleted_at is null order by id limit ${limit}`,
    )
  ).map(linkOf)

/** Also one that was deleted. */
export const linkById = (statements: OwnStatements, siteId: number, id: number): Promise<Link | undefined> =>
  one(statements, sql`select ${COLUMNS} from links_links where id = ${id} and site_id = ${siteId}`)

export const linkAt = (statements: OwnStatements, domainId: number | null, slug: string): Promise<Link | undefined> =>
  one(
    statements,
    sql`select ${COLUMNS} from links_links
      where ifnull(domain_id, 0) = ${domainId ?? 0} and slug_key = ${slugKey(slug)} and deleted_at is null`,
  )

/** Those that are not deleted, of one site. */
export const countLinks = async (statements: OwnStatements, siteId: number): Promise<number> =>
  (await statements.get<{ n: number }>(sql`select count(*) as n from links_links where site_id = ${siteId} and deleted_at is null`))!.n

export interface Password {
  hash: string | null
  version: number
}

export async function insertLink(
  statements: OwnStatements,
  fields: LinkFields,
  made: { siteId: number; password: Password; createdBy: number | null; now: number },
): Promise<Link> {
  const { siteId, password, createdBy, now } = made
  const inserted = await one(
    statements,
    sql`insert into links_links (site_id, domain_id, slug, slug_key, destination, title, notes, tags_json, redirect_status, forward_query,
      forward_path, utm_json, utm_mode, starts_at, expires_at, expired_destination, max_clicks, password_hash, password_version, rules_json,
      noindex, created_by, created_at, updated_at)
    values (${siteId}, ${fields.domain_id}, ${fields.slug}, ${slugKey(fields.slug)}, ${fields.destination}, ${fields.title}, ${fields.notes},
      ${JSON.stringify(fields.tags)}, ${fields.redirect_status}, ${Number(fields.forward_query)}, ${Number(fields.forward_path)},
      ${JSON.stringify(fields.utm)}, ${fields.utm_mode}, ${fields.starts_at}, ${fields.expires_at}, ${fields.expired_destination},
      ${fields.max_clicks}, ${password.hash}, ${password.version}, ${JSON.stringify(fields.rules)}, ${Number(fields.noindex)}, ${createdBy},
      ${now}, ${now})
    returning ${COLUMNS}`,
  )
  return inserted! // an insert that does not fail returns its row
}

export async function updateLink(
  statements: OwnStatements,
  id: number,
  fields: LinkFields & Pick<Link, "archived_at" | "deleted_at">,
  { password, now }: { password: Password; now: number },
): Promise<Link> {
  const updated = await one(
    statements,
    sql`update links_links set domain_id = ${fields.domain_id}, slug = ${fields.slug}, slug_key = ${slugKey(fields.slug)},
      destination = ${fields.destination}, title = ${fields.title}, notes = ${fields.notes}, tags_json = ${JSON.stringify(fields.tags)},
      redirect_status = ${fields.redirect_status}, forward_query = ${Number(fields.forward_query)},
      forward_path = ${Number(fields.forward_path)}, utm_json = ${JSON.stringify(fields.utm)}, utm_mode = ${fields.utm_mode},
      starts_at = ${fields.starts_at}, expires_at = ${fields.expires_at}, expired_destination = ${fields.expired_destination},
      max_clicks = ${fields.max_clicks}, password_hash = ${password.hash}, password_version = ${password.version},
      rules_json = ${JSON.stringify(fields.rules)}, noindex = ${Number(fields.noindex)}, archived_at = ${fields.archived_at},
      deleted_at = ${fields.deleted_at}, version = version + 1, updated_at = ${now}
    where id = ${id} returning ${COLUMNS}`,
  )
  return updated! // found in the same transaction
}

/** What a fold adds to the counters of a link. */
export interface Folded {
  id: number
  human: number
  bot: number
  qr: number
  lastAt: number
}

/** Undefined for a link that is gone, and for one that is up to there already. */
export const foldClicks = (statements: OwnStatements, { id, human, bot, qr, lastAt }: Folded, to: number): Promise<Link | undefined> =>
  one(
    statements,
    sql`update links_links set clicks_human = clicks_human + ${human}, clicks_bot = clicks_bot + ${bot}, clicks_qr = clicks_qr + ${qr},
      last_click_at = max(ifnull(last_click_at, 0), ${lastAt}), counted_to = ${to}
    where id = ${id} and counted_to < ${to} returning ${COLUMNS}`,
  )

export const clickPosition = (statements: OwnStatements, siteId: number): Promise<FoldPosition | undefined> =>
  statements.get(sql`select folded_at as at, sequence from links_folds where site_id = ${siteId}`)

export const putClickPosition = (statements: OwnStatements, siteId: number, { at, sequence }: FoldPosition): Promise<void> =>
  statements.run(sql`insert into links_folds (site_id, folded_at, sequence) values (${siteId}, ${at}, ${sequence})
    on conflict (site_id) do update set folded_at = excluded.folded_at, sequence = excluded.sequence`)

/** Links whose counters are further than the position of their site: their fold was cut off. Deleted ones too, for they may come back. */
export const linksAhead = (statements: OwnStatements, siteId: number, sequence: number): Promise<{ id: number; counted_to: number }[]> =>
  statements.all(sql`select id, counted_to from links_links where site_id = ${siteId} and counted_to > ${sequence}`)

/** A slug that was given up. */
export interface Tombstone {
  organization_id: number
  link_id: number | null
  until: number
}

export const tombstoneAt = (statements: OwnStatements, domainId: number | null, slug: string): Promise<Tombstone | undefined> =>
  statements.get(sql`select organization_id, link_id, until from links_tombstones
    where ifnull(domain_id, 0) = ${domainId ?? 0} and slug_key = ${slugKey(slug)}`)

export async function putTombstone(
  statements: OwnStatements,
  { domain_id, slug, id }: Pick<Link, "domain_id" | "slug" | "id">,
  { organizationId, now, until }: { organizationId: number; now: number; until: number },
): Promise<void> {
  await removeTombstone(statements, domain_id, slug)
  await statements.run(sql`insert into links_tombstones (domain_id, slug_key, organization_id, link_id, freed_at, until)
    values (${domain_id}, ${slugKey(slug)}, ${organizationId}, ${id}, ${now}, ${until})`)
}

export const removeTombstone = (statements: OwnStatements, domainId: number | null, slug: string): Promise<void> =>
  statements.run(sql`delete from links_tombstones where ifnull(domain_id, 0) = ${domainId ?? 0} and slug_key = ${slugKey(slug)}`)

/** At most so many rows at a time; how many went. */
export const deleteTombstones = async (statements: OwnStatements, now: number, limit: number): Promise<number> => {
  const slice = sql`select id from links_tombstones where until <= ${now} limit ${limit}`
  return (await statements.all(sql`delete from links_tombstones where id in (${slice}) returning id`)).length
}

/** Returns those that are gone. */
export const deleteOldLinks = async (statements: OwnStatements, deletedBefore: number, limit: number): Promise<Link[]> => {
  const slice = sql`select id from links_links where deleted_at is not null and deleted_at <= ${deletedBefore} limit ${limit}`
  return (await statements.all<LinkRow>(sql`delete from links_links where id in (${slice}) returning ${COLUMNS}`)).map(linkOf)
}

/** Also those that were deleted: for the archive and the end of a site. */
export const linksOfSite = async (statements: OwnStatements, siteId: number, after: number, limit: number): Promise<Link[]> =>
  (
    await statements.all<LinkRow>(
      sql`select ${COLUMNS} from links_links where site_id = ${siteId} and id > ${after} order by id limit ${limit}`,
    )
  ).map(linkOf)

export const deleteLink = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from links_links where id = ${id}`)
