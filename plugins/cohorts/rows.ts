/** The tables of cohorts and erasures. */
import { caseKey, type Host, type NamedThings, type OwnStatements, type Site, sql, type Trash } from "#plugin"
import type { Cohort, CohortFields, Definition } from "./cohort.ts"
import { cohortError } from "./errors.ts"

const COLUMNS = sql`id, site_id, name, description, definition_json, kind, restrict_to, identity_min_days, size, pending, coverage,
  least_difference, computed_at, compute_ms, created_by, version, created_at, updated_at, deleted_at`

interface CohortRow extends Omit<Cohort, "definition" | "restrict"> {
  definition_json: string
  restrict_to: "identified" | null
}

const cohortOf = ({ definition_json, restrict_to, ...row }: CohortRow): Cohort => ({
  ...row,
  definition: JSON.parse(definition_json) as Definition, // written by the functions below
  restrict: restrict_to,
})

export const cohortTrash = (host: Pick<Host, "trash">): Trash<Cohort> =>
  host.trash({
    thing: "cohort",
    table: "cohorts_cohorts",
    columns: COLUMNS,
    read: cohortOf,
    label: ({ name }) => name,
    notFound: () => cohortError("cohort_not_found", "This cohort doesn't exist on the site, or it was deleted."),
  })

/** Returns the cohorts of a site by name, without deleted ones. */
export const listCohorts = async (statements: OwnStatements, siteId: number): Promise<Cohort[]> =>
  (
    await statements.all<CohortRow>(
      sql`select ${COLUMNS} from cohorts_cohorts where site_id = ${siteId} and deleted_at is null order by name_key, id limit 1000`,
    )
  ).map(cohortOf)

/** Returns the cohorts as objects that dashboards name. */
export const namedCohorts = ({ db }: Pick<Host, "db">): NamedThings => ({
  nameOf: async (site, id) => (await listCohorts(db, site.id)).find((cohort) => cohort.id === id)?.name,
  idOf: async (site, name) => (await listCohorts(db, site.id)).find((cohort) => cohort.name === name)?.id,
})

/** Throws `cohort_exists` if another cohort of the site has the name, regardless of case. */
export async function refuseTaken(statements: OwnStatements, site: Site, name: string, id?: number): Promise<void> {
  const other = await statements.get<{ id: number }>(sql`select id from cohorts_cohorts
    where site_id = ${site.id} and name_key = ${caseKey(name)} and deleted_at is null and id <> ${id ?? 0}`)
  if (other) throw cohortError("cohort_exists", "The site already has a cohort with this name.", { existing_id: other.id })
}

export type NewCohort = CohortFields & Pick<Cohort, "kind" | "identity_min_days"> & { siteId: number; createdBy: number; now: number }

export async function insertCohort(statements: OwnStatements, cohort: NewCohort): Promise<Cohort> {
  const { siteId, createdBy, now } = cohort
  const row = await statements.get<CohortRow>(sql`insert into cohorts_cohorts
    (site_id, name, name_key, description, definition_json, kind, restrict_to, identity_min_days, created_by, created_at, updated_at)
    values (${siteId}, ${cohort.name}, ${caseKey(cohort.name)}, ${cohort.description}, ${JSON.stringify(cohort.definition)}, ${cohort.kind},
      ${cohort.restrict}, ${cohort.identity_min_days}, ${createdBy}, ${now}, ${now})
    returning ${COLUMNS}`)
  return cohortOf(row!) // an insert that does not fail returns its row
}

export async function updateCohort(
  statements: OwnStatements,
  id: number,
  fields: CohortFields & Pick<Cohort, "identity_min_days" | "deleted_at">,
  now: number,
): Promise<Cohort> {
  const row = await statements.get<CohortRow>(sql`update cohorts_cohorts set name = ${fields.name}, name_key = ${caseKey(fields.name)},
    description = ${fields.description}, definition_json = ${JSON.stringify(fields.definition)}, restrict_to = ${fields.restrict},
    identity_min_days = ${fields.identity_min_days}, deleted_at = ${fields.deleted_at}, version = version + 1, updated_at = ${now}
    where id = ${id} returning ${COLUMNS}`)
  return cohortOf(row!) // found in the same transaction
}

export const deleteCohort = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from cohorts_cohorts where id = ${id}`)

/** A result of an evaluation, which is kept to be shown in lists. */
export type Computed = Pick<Cohort, "size" | "pending" | "coverage" | "least_difference" | "compute_ms">

/** Keeps the result of an evaluation. A cohort that was changed meanwhile keeps its own. Its version stays. */
export async function keepComputed(statements: OwnStatements, { id, version }: Cohort, computed: Computed, now: number): Promise<void> {
  await statements.run(sql`update cohorts_cohorts set size = ${computed.size}, pending = ${computed.pending}, coverage = ${computed.coverage},
    least_difference = ${computed.least_difference}, computed_at = ${now}, compute_ms = ${computed.compute_ms} where id = ${id} and version = ${version}`)
}

/** Removes the result of an evaluation, which is that of an earlier definition, and returns the cohort. */
export async function forgetComputed(statements: OwnStatements, id: number): Promise<Cohort> {
  const row = await statements.get<CohortRow>(sql`update cohorts_cohorts set size = null, pending = null, coverage = null,
    least_difference = null, computed_at = null, compute_ms = null where id = ${id} returning ${COLUMNS}`)
  return cohortOf(row!) // found in the same transaction
}

/** Removes the rows of frozen cohorts whose members were not completely stored until a time, because the process ended before. */
export const deleteUnfilled = (statements: OwnStatements, before: number): Promise<void> =>
  statements.run(sql`delete from cohorts_cohorts where kind = 'static' and computed_at is null and created_at < ${before}`)

export interface Erasure {
  id: number
  site_id: number
  state: "queued" | "running" | "done" | "failed"
  counts: Record<string, number>
  requested_by: number | null
  requested_at: number
  finished_at: number | null
}

const ERASURE = sql`id, site_id, state, counts_json, requested_by, requested_at, finished_at`
const erasureOf = ({ counts_json, ...row }: Omit<Erasure, "counts"> & { counts_json: string }): Erasure => ({
  ...row,
  counts: JSON.parse(counts_json) as Record<string, number>, // written by the functions below
})

export async function insertErasure(
  statements: OwnStatements,
  { siteId, visitorHash, requestedBy, now }: { siteId: number; visitorHash: string; requestedBy: number | null; now: number },
): Promise<Erasure> {
  const row = await statements.get<Omit<Erasure, "counts"> & { counts_json: string }>(sql`insert into cohorts_erasures
    (site_id, visitor_hash, state, counts_json, requested_by, requested_at)
    values (${siteId}, ${visitorHash}, 'queued', '{}', ${requestedBy}, ${now}) returning ${ERASURE}`)
  return erasureOf(row!) // an insert that does not fail returns its row
}

export async function findErasure(statements: OwnStatements, siteId: number, id: number): Promise<Erasure | undefined> {
  const row = await statements.get<Omit<Erasure, "counts"> & { counts_json: string }>(
    sql`select ${ERASURE} from cohorts_erasures where id = ${id} and site_id = ${siteId}`,
  )
  return row && erasureOf(row)
}

export const updateErasure = (
  statements: OwnStatements,
  id: number,
  { state, counts, finishedAt }: { state: Erasure["state"]; counts: Erasure["counts"]; finishedAt: number | null },
): Promise<void> =>
  statements.run(
    sql`update cohorts_erasures set state = ${state}, counts_json = ${JSON.stringify(counts)}, finished_at = ${finishedAt} where id = ${id}`,
  )

export const deleteErasuresOf = (statements: OwnStatements, siteId: number): Promise<void> =>
  statements.run(sql`delete from cohorts_erasures where site_id = ${siteId}`)
