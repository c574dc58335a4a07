import { type Sql, sql } from "../sql.ts"
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

/** A data folder whose node was forgotten. It may contain visits that were removed since. */
export interface ForgottenNode {
  forgotten: number
}

/**
 * Takes the number of a data folder, or the next number for a new one. A new event store in the place of a lost one counts its sequences
 * from 1, so it does not get the number under which these are already known. Returns undefined when all numbers are taken. An earlier start on
 * the same folder loses the number. Call it within a transaction.
 */
export async function takeNode(
  statements: Statements,
  { folder, holder, described, version, isNewStore }: TakenNode,
): Promise<number | ForgottenNode | undefined> {
  const until = sql`${SERVER_NOW} + ${LEASE_MS}`
  if (isNewStore)
    await statements.run(
      sql`update nodes set folder = folder || ' of node ' || number, holder = '', expires_at = 0 where folder = ${folder}`,
    )
  const forgotten = await statements.get<{ number: number }>(
    sql`select number from nodes where folder = ${folder} and forgotten_at is not null`,
  )
  if (forgotten) return { forgotten: forgotten.number }
  const known = await statements.get<{ number: number }>(sql`
    update nodes set holder = ${holder}, described = ${described}, version = ${version}, expires_at = ${until} where folder = ${folder}
    returning number`)
  if (known) return known.number
  const last = await statements.get<{ number: number | null }>(sql`select max(number) as number from nodes`)
  const number = (last?.number ?? 0) + 1
  if (number > MAX_NODES) return undefined
  await statements.run(sql`
    insert into nodes (number, folder, holder, described, version, expires_at, removed_to)
    values (${number}, ${folder}, ${holder}, ${described}, ${version}, ${until}, coalesce((select seq from sqlite_sequence where name = 'removals'), 0))`)
  return number
}

/** A start of a node, and whether the node has events that ClickHouse may lack. */
interface HeldNode {
  holder: string
  isLate: boolean
}

const unshippedSince = (isLate: boolean): Sql => (isLate ? sql`coalesce(unshipped_since, ${SERVER_NOW})` : sql`null`)

/** Renews the lease of a node. Returns false when a later start on the same folder has taken its number, or when it was forgotten. */
export async function renewNode(catalog: Statements, { holder, isLate }: HeldNode): Promise<boolean> {
  const row = await catalog.get(sql`
    update nodes set expires_at = ${SERVER_NOW} + ${LEASE_MS}, unshipped_since = ${unshippedSince(isLate)} where holder = ${holder}
    returning number`)
  return row !== undefined
}

/** Ends the lease of a node, whose number stays with its folder. */
export const releaseNode = (catalog: Statements, { holder, isLate }: HeldNode): Promise<void> =>
  catalog.run(sql`update nodes set expires_at = 0, unshipped_since = ${unshippedSince(isLate)} where holder = ${holder}`)

/** Takes the turn of some work. Returns false while another live node has it. */
export async function takeTurn(catalog: Statements, name: string, node: number): Promise<boolean> {
  const row = await catalog.get(sql`
    insert into turns (name, node) values (${name}, ${node})
    on conflict (name) do update set node = excluded.node
      where turns.node = excluded.node or turns.node not in (select number from nodes where expires_at > ${SERVER_NOW})
    returning name`)
  return row !== undefined
}

/** `stopped`: it has stopped in order. `lost`: it has not renewed its lease. */
export type NodeState = "live" | "stopped" | "lost" | "forgotten"

export interface NodeRow extends NewNode {
  number: number
  expires_at: number
  /** Since when the node has had events that ClickHouse may lack. */
  unshipped_since: number | null
  state: NodeState
}

/** Lists all nodes by their numbers. */
export const listNodes = (catalog: Statements): Promise<NodeRow[]> =>
  catalog.all(sql`
    select number, folder, holder, described, version, expires_at, unshipped_since,
      case when forgotten_at is not null then 'forgotten' when expires_at > ${SERVER_NOW} then 'live' when expires_at = 0 then 'stopped' else 'lost' end
        as state
    from nodes order by number limit ${MAX_NODES}`)

/** Lists the live nodes by their numbers. The table may be that of an earlier version of the program. */
export const listLiveNodes = (catalog: Statements): Promise<Omit<NodeRow, "unshipped_since" | "state">[]> =>
  catalog.all(sql`
    select number, folder, holder, described, version, expires_at from nodes where expires_at > ${SERVER_NOW}
    order by number limit ${MAX_NODES}`)

/** Makes nothing wait any more for a node that is not live. Work on its disk is cancelled. Returns false if it is live or unknown. */
export async function forgetNode(statements: Statements, number: number, now: number): Promise<boolean> {
  const row = await statements.get(sql`
    update nodes set forgotten_at = ${now}, holder = '', expires_at = 0, unshipped_since = null
    where number = ${number} and expires_at <= ${SERVER_NOW} and forgotten_at is null returning number`)
  if (!row) return false
  await statements.run(sql`
    update jobs set state = 'cancelled', finished_at = ${now} where node = ${number} and state in ('queued', 'running')`)
  return true
}

/** Returns whether a node of another data folder is live. */
export const hasOtherLiveNodes = async (catalog: Statements, folder: string): Promise<boolean> =>
  (await catalog.get(sql`select 1 from nodes where expires_at > ${SERVER_NOW} and folder != ${folder} limit 1`)) !== undefined

/** Returns whether a node has ever shared the catalog. */
export const hadNodes = async (catalog: Statements): Promise<boolean> => (await catalog.get(sql`select 1 from nodes limit 1`)) !== undefined

/** Returns whether the catalog has the table of nodes. An earlier version of the program did not create it. */
export async function hasNodes(catalog: Statements): Promise<boolean> {
  return (await catalog.get(sql`select 1 from sqlite_schema where type = 'table' and name = 'nodes'`)) !== undefined
}
