import type { Funnel, FunnelFields, SavedStep } from "../../domain/funnel.ts"
import type { Goal, GoalFields } from "../../domain/goal.ts"
import { caseKey } from "../../domain/text.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const GOAL = sql`id, site_id, kind, match, value, name, threshold, props_json, created_at, updated_at, version`
type GoalRow = Omit<Goal, "threshold" | "props"> & { threshold: number | null; props_json: string }

export async function insertGoal(catalog: Statements, siteId: number, goal: GoalFields, now: number): Promise<Goal> {
  const row = await catalog.get<GoalRow>(sql`
    insert into goals (site_id, kind, match, value, name, name_key, threshold, props_json, created_at, updated_at)
    values (
      ${siteId}, ${goal.kind}, ${goal.match}, ${goal.value}, ${goal.name}, ${caseKey(goal.name)}, ${goal.threshold},
      ${JSON.stringify(goal.props ?? {})}, ${now}, ${now}
    ) returning ${GOAL}`)
  return toGoal(row!) // an insert that returns has a row
}

/** Lists the goals of a site with the same definition or the same name. */
export const equivalentGoals = (catalog: Statements, siteId: number, goal: GoalFields): Promise<{ id: number }[]> =>
  catalog.all(sql`
    select id from goals
    where site_id = ${siteId} and (
      name_key = ${caseKey(goal.name)} or (
        kind = ${goal.kind} and match = ${goal.match} and value = ${goal.value}
        and threshold is ${goal.threshold} and props_json = ${JSON.stringify(goal.props ?? {})}
      )
    ) order by id`)

/** Lists rows after an id, by id ascending. */
export async function listGoals(catalog: Statements, siteId: number, { after, limit }: Slice): Promise<Goal[]> {
  const rows = await catalog.all<GoalRow>(sql`
    select ${GOAL} from goals where site_id = ${siteId} and id > ${after} order by id limit ${limit}`)
  return rows.map(toGoal)
}

/** Lists the goals of all sites after an id, by id ascending. */
export async function listAllGoals(catalog: Statements, { after, limit }: Slice): Promise<Goal[]> {
  const rows = await catalog.all<GoalRow>(sql`select ${GOAL} from goals where id > ${after} order by id limit ${limit}`)
  return rows.map(toGoal)
}

export async function goalById(catalog: Statements, siteId: number, id: number): Promise<Goal | undefined> {
  const row = await catalog.get<GoalRow>(sql`select ${GOAL} from goals where site_id = ${siteId} and id = ${id}`)
  return row && toGoal(row)
}

export async function countGoals(catalog: Statements, siteId: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`select count(*) as n from goals where site_id = ${siteId}`)
  return row!.n // a count has a row
}

export async function updateGoal(catalog: Statements, id: number, goal: GoalFields, now: number): Promise<Goal> {
  const row = await catalog.get<GoalRow>(sql`
    update goals set
      kind = ${goal.kind}, match = ${goal.match}, value = ${goal.value}, name = ${goal.name}, name_key = ${caseKey(goal.name)},
      threshold = ${goal.threshold}, props_json = ${JSON.stringify(goal.props ?? {})}, updated_at = ${now},
      version = version + 1
    where id = ${id}
    returning ${GOAL}`)
  return toGoal(row!) // the caller has seen the goal in this transaction
}

export const deleteGoal = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from goals where id = ${id}`)

/** Converts a row to a goal. Missing fields are absent, not null. */
function toGoal({ threshold, props_json, created_at, updated_at, version, ...row }: GoalRow): Goal {
  const props = JSON.parse(props_json) as Record<string, string> // written here
  return {
    ...row,
    ...(threshold === null ? {} : { threshold }),
    ...(Object.keys(props).length === 0 ? {} : { props }),
    created_at,
    updated_at,
    version,
  }
}

const FUNNEL = sql`id, site_id, name, steps_json, "order", window_hours, created_at, updated_at, version`
type FunnelRow = Omit<Funnel, "steps"> & { steps_json: string }

export async function insertFunnel(catalog: Statements, siteId: number, funnel: FunnelFields, now: number): Promise<Funnel> {
  const row = await catalog.get<FunnelRow>(sql`
    insert into funnels (site_id, name, name_key, steps_json, "order", window_hours, created_at, updated_at)
    values (
      ${siteId}, ${funnel.name}, ${caseKey(funnel.name)}, ${JSON.stringify(funnel.steps)}, ${funnel.order}, ${funnel.window_hours},
      ${now}, ${now}
    ) returning ${FUNNEL}`)
  return toFunnel(row!) // an insert that returns has a row
}

export const funnelNamed = (catalog: Statements, siteId: number, name: string): Promise<{ id: number } | undefined> =>
  catalog.get(sql`select id from funnels where site_id = ${siteId} and name_key = ${caseKey(name)}`)

/** Lists rows after an id, by id ascending. */
export async function listFunnels(catalog: Statements, siteId: number, { after, limit }: Slice): Promise<Funnel[]> {
  const rows = await catalog.all<FunnelRow>(sql`
    select ${FUNNEL} from funnels where site_id = ${siteId} and id > ${after} order by id limit ${limit}`)
  return rows.map(toFunnel)
}

/** Lists the funnels of all sites after an id, by id ascending. */
export async function listAllFunnels(catalog: Statements, { after, limit }: Slice): Promise<Funnel[]> {
  const rows = await catalog.all<FunnelRow>(sql`select ${FUNNEL} from funnels where id > ${after} order by id limit ${limit}`)
  return rows.map(toFunnel)
}

export async function funnelById(catalog: Statements, siteId: number, id: number): Promise<Funnel | undefined> {
  const row = await catalog.get<FunnelRow>(sql`select ${FUNNEL} from funnels where site_id = ${siteId} and id = ${id}`)
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
    returning ${FUNNEL}`)
  return toFunnel(row!) // the caller has seen the funnel in this transaction
}

export const deleteFunnel = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from funnels where id = ${id}`)

function toFunnel({ steps_json, ...row }: FunnelRow): Funnel {
  return { ...row, steps: JSON.parse(steps_json) as SavedStep[] } // written here
}
