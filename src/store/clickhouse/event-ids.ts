/** The event ids of all nodes, as hashes that all of them compute alike. */
import { ByteWriter } from "../events/bytes/bytes.ts"
import type { Hash64 } from "../events/writer.ts"
import type { Clickhouse, Settings } from "./client.ts"

/** The id of a stored event. */
export interface ArrivedId {
  id: Hash64
  /** Epoch milliseconds. */
  arrivedAt: number
}

/** Number of ids per statement, which has to contain them. */
const SLICE = 10_000

export const numberOf = ({ high, low }: Hash64): bigint => (BigInt(high) << 32n) | BigInt(low)

/** Stores the ids of events that a node has shipped. Repeats change nothing. */
export async function insertEventIds(clickhouse: Clickhouse, node: number, ids: readonly ArrivedId[], settings: Settings): Promise<void> {
  const out = new ByteWriter()
  for (const { id, arrivedAt } of ids) {
    out.uint64(numberOf(id))
    out.byte(node)
    out.uint64(arrivedAt)
  }
  await clickhouse.insert("event_ids", ["id", "node", "arrived"], out.content(), { settings })
}

/** Returns which ids other nodes have shipped. */
export async function idsOfOthers(clickhouse: Clickhouse, node: number, ids: readonly Hash64[]): Promise<ReadonlySet<bigint>> {
  const known = new Set<bigint>()
  for (let from = 0; from < ids.length; from += SLICE) {
    const list = ids
      .slice(from, from + SLICE)
      .map(numberOf)
      .join()
    const sql = `select distinct id from event_ids where id in (${list}) and node != {node:UInt8}`
    for (const { id } of await clickhouse.rows<{ id: string }>(sql, { parameters: { node } })) known.add(BigInt(id))
  }
  return known
}
