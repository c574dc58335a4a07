import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"
import { LEASE_MS, SERVER_NOW } from "./lease.ts"

/** A node that takes part. */
interface NewNode {
  /** Id of the data folder. */
  folder: string
  /** Id of this start of the process. */
  holder: string
  /** For people: host and pid. */
  described: string
  version: string
}

interface TakenNode extends NewNode {
  /** Whether the event store of the folder is new. */
  isNewStore: boolean
}

export const MAX_NODES = 255

/**
 * Takes the number of a data folder, or the next number for a new one. A new event store in the place of a lost one counts its sequences
 * from 1, so it does not get the number under which these are already known. Returns undefined when all numbers are taken. An earlier start on
 * the same folder loses the number. Call it within a transaction.
 */
export async function takeNode(
  statements: Statements,
  { folder, holder, described, version, isNewStore }: TakenNode,
): Promise<number | undefined> {
  const until = sql`${SERVER_NOW} + ${LEASE_MS}`
  if (isNewStore)
    await statements.run(
      sql`update nodes set folder = folder || ' of node ' || number, holder = '', expires_at = 0 where folder = ${folder}`,
    )
  const known = await statements.get<{ number: number }>(sql`
    update nodes set holder = ${holder}, described = ${described}, version = ${version}, expires_at = ${until} where folder = ${folder}
    returning number`)
  if (known) return known.number
  const last = await statements.get<{ number: number | null }>(sql`select max(number) as number from nodes`)
  const number = (last?.number ?? 0) + 1
  if (number > MAX_NODES) return undefined
  await statements.run(sql`
    insert into nodes (number, folder, holder, described, version, expires_at, removed_to)
    values (${number}, ${folder}, ${holder}, ${described}, ${version}, ${until}, coalesce((select max(id) from removals), 0))`)
  return number
}

/** Renews the lease of a node. Returns false when a later start on the same folder has taken its number. */
export async function renewNode(catalog: Statements, holder: string): Promise<boolean> {
  const row = await catalog.get(sql`
    update nodes set expires_at = ${SERVER_NOW} + ${LEASE_MS} where holder = ${holder} returning number`)
  return row !== undefined
}

/** Ends the lease of a node, whose number stays with its folder. */
export const releaseNode = (catalog: Statements, holder: string): Promise<void> =>
  catalog.run(sql`update nodes set expires_at = 0 where holder = ${holder}`)

/** Takes the turn of some work. Returns false while another live node has it. */
export async function takeTurn(catalog: Statements, name: string, node: number): Promise<boolean> {
  const row = await catalog.get(sql`
    insert into turns (name, node) values (${name}, ${node})
    on conflict (name) do update set node = excluded.node
      where turns.node = excluded.node or turns.node not in (select number from nodes where expires_at > ${SERVER_NOW})
    returning name`)
  return row !== undefined
}

interface NodeRow extends NewNode {
  number: number
  expires_at: number
}

/** Lists the live nodes by their numbers. */
export const listLiveNodes = (catalog: Statements): Promise<NodeRow[]> =>
  catalog.all(sql`
    select number, folder, holder, described, version, expires_at from nodes where expires_at > ${SERVER_NOW}
    order by number limit ${MAX_NODES}`)

/** Returns whether a node has ever shared the catalog. */
export const hadNodes = async (catalog: Statements): Promise<boolean> => (await catalog.get(sql`select 1 from nodes limit 1`)) !== undefined

/** Returns whether the catalog has the table of nodes. An earlier version of the program did not create it. */
export async function hasNodes(catalog: Statements): Promise<boolean> {
  return (await catalog.get(sql`select 1 from sqlite_schema where type = 'table' and name = 'nodes'`)) !== undefined
}
