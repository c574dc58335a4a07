import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"
import { SERVER_NOW } from "./lease.ts"

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

/** Lists the removals that a node has not repeated, after an id and in order. */
export const listPendingRemovals = (
  catalog: Statements,
  { node, after, limit }: { node: number; after: number; limit: number },
): Promise<RemovalRow[]> =>
  catalog.all(sql`select id, site_id, node, removal_json from removals
    where id > max(${after}, (select removed_to from nodes where number = ${node})) order by id limit ${limit}`)

/** Records that a node has repeated everything up to a removal, and deletes what all nodes have repeated. */
export async function finishRemoval(statements: Statements, node: number, id: number): Promise<void> {
  await statements.run(sql`update nodes set removed_to = ${id} where number = ${node} and removed_to < ${id}`)
  await statements.run(sql`delete from removals where id in (
    select id from removals where id <= (select min(removed_to) from nodes where forgotten_at is null) order by id limit 1000)`)
}

/** Returns whether every node, also one that has stopped, has repeated all removals. */
export const areRemovalsDone = async (catalog: Statements): Promise<boolean> =>
  (await catalog.get(sql`
    select 1 from nodes where forgotten_at is null and removed_to < (select max(id) from removals) limit 1`)) === undefined

/** Returns the id of the last removal; 0 without any. */
export const lastRemoval = async (catalog: Statements): Promise<number> =>
  (await catalog.get<{ id: number }>(sql`select coalesce(max(id), 0) as id from removals`))!.id // an aggregate returns a row

/** Returns whether every other node that is live has repeated the removals up to one. */
export const haveLiveNodesRemoved = async (catalog: Statements, id: number, node: number): Promise<boolean> =>
  (await catalog.get(sql`
    select 1 from nodes join removals on id > removed_to and id <= ${id}
    where number != ${node} and expires_at > ${SERVER_NOW} limit 1`)) === undefined
