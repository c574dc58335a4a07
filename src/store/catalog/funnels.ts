import type { Funnel, FunnelFields, SavedStep } from "../../domain/funnel.ts"
import { caseKey } from "../../domain/text.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const COLUMNS = sql`id, site_id, name, steps_json, "order", window_hours, created_at, updated_at, version`
type FunnelRow = Omit<Funnel, "steps"> & { steps_json: string }

export async function insertFunnel(catalog: Statements, siteId: number, funnel: FunnelFields, now: number): Promise<Funnel> {
  const row = await catalog.get<FunnelRow>(sql`
    insert into funnels (site_id, name, name_key, steps_json, "order", window_hours, created_at, updated_at)
    values (
      ${siteId}, ${funnel.name}, ${caseKey(funnel.name)}, ${JSON.stringify(funnel.steps)}, ${funnel.order}, ${funnel.window_hours},
      ${now}, ${now}
    ) returning ${COLUMNS}`)
  return toFunnel(row!) // an insert that returns has a row
}

export const funnelNamed = (catalog: Statements, siteId: number, name: string): Promise<{ id: number } | undefined> =>
  catalog.get(sql`select id from funnels where site_id = ${siteId} and name_key = ${caseKey(name)}`)

/** Lists rows after an id, by id ascending. */
export async function listFunnels(catalog: Statements, siteId: number, { after, limit }: Slice): Promise<Funnel[]> {
  const rows = await catalog.all<FunnelRow>(sql`
    select ${COLUMNS} from funnels where site_id = ${siteId} and id > ${after} order by id limit ${limit}`)
  return rows.map(toFunnel)
}

/** Lists the funnels of all sites after an id, by id ascending. */
export async function listAllFunnels(catalog: Statements, { after, limit }: Slice): Promise<Funnel[]> {
  const rows = await catalog.all<FunnelRow>(sql`select ${COLUMNS} from funnels where id > ${after} order by id limit ${limit}`)
  return rows.map(toFunnel)
}

export async function funnelById(catalog: Statements, siteId: number, id: number): Promise<Funnel | undefined> {
  const row = await catalog.get<FunnelRow>(sql`select ${COLUMNS} from funnels where site_id = ${siteId} and id = ${id}`)
  return row && toFunnel(row)
}

export async function countFunnels(catalog: Statements, siteId: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`select count(*) as n from funnels where site_id = ${siteId}`)
  return row!.n // a count has a row
}

export async function updateFunnel(catalog: Statements, id: number, funnel: FunnelFields, now: number): Promise<Funnel> {
  const row = await catalog.get<FunnelRow>(sql`
    update funnels set
      name = ${funnel.name}, name_key = ${caseKey(funnel.name)}, steps_json = ${JSON.stringify(funnel.steps)},
      "order" = ${funnel.order}, window_hours = ${funnel.window_hours}, updated_at = ${now},
      version = version + 1
    where id = ${id}
    returning ${COLUMNS}`)
  return toFunnel(row!) // the caller has seen the funnel in this transaction
}

export const deleteFunnel = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from funnels where id = ${id}`)

function toFunnel({ steps_json, ...row }: FunnelRow): Funnel {
  return { ...row, steps: JSON.parse(steps_json) as SavedStep[] } // written here
}
