import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A removal of events that nodes repeat in their stores. */
interface RemovalRow {
  id: number
  site_id: number
  /** Number of the node that has begun it. */
  node: number
  removal_json: string
}

export const insertRemoval = (
  catalog: Statements,
  { site_id, node, removal_json, created_at }: Omit<RemovalRow, "id"> & { created_at: number },
): Promise<void> =>
  catalog.run(sql`insert into removals (site_id, node, removal_json, created_at)
    values (${site_id}, ${node}, ${removal_json}, ${created_at})`)

/** Lists the next removals that a node has not repeated, in order. */
export const listPendingRemovals = (catalog: Statements, node: number, limit: number): Promise<RemovalRow[]> =>
  catalog.all(sql`select id, site_id, node, removal_json from removals
    where id > (select removed_to from nodes where number = ${node}) order by id limit ${limit}`)

/** Records that a node has repeated everything up to a removal, and deletes what all nodes have repeated. */
export async function finishRemoval(statements: Statements, node: number, id: number): Promise<void> {
  await statements.run(sql`update nodes set removed_to = ${id} where number = ${node} and removed_to < ${id}`)
  await statements.run(sql`delete from removals where id in (
    select id from removals where id <= (select min(removed_to) from nodes) order by id limit 1000)`)
}

/** Returns whether every node, also one that has stopped, has repeated all removals. */
export const areRemovalsDone = async (catalog: Statements): Promise<boolean> =>
  (await catalog.get(sql`select 1 from nodes where removed_to < (select max(id) from removals) limit 1`)) === undefined
