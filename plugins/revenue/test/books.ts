import { sql } from "#plugin"
import type { FrozenTouch } from "../orders/frozen.ts"
import { packTransactions } from "../packed/chunks.ts"
import type { Shop } from "./kit.ts"

/** A transaction as a test writes it. */
export interface Entry {
  type?: "sale" | "refund" | "dispute" | "adjustment"
  at: string
  /** Minor units. */
  amount: number
  currency?: string
  trust?: "client" | "server" | "webhook"
  /** Index of the sale in the list. */
  of?: number
  recurring?: "first" | "renewal"
  /** Ordinal of the visitor. */
  visitor?: number
  kind?: "rotating" | "device" | "user"
  dims?: Record<string, string>
  touches?: readonly Partial<FrozenTouch>[]
  items?: readonly object[]
  link?: number
}

/** Writes transactions as the steps of this plugin store them, and returns their ids. For reports over what no event can produce. */
export async function enter({ instance }: Pick<Shop, "instance">, entries: readonly Entry[], siteId = 1): Promise<number[]> {
  const { people, sites } = instance.app.instance
  const site = sites.directory.byId(siteId)!
  const named = [...new Set(entries.map(({ visitor }) => visitor).filter((visitor) => visitor !== undefined))]
  const names = await people.pseudonymsOf(site, named)
  const nameOf = new Map(named.map((visitor, i) => [visitor, names[i]!]))
  const numberer = await people.numberer(siteId)
  const externalIds = entries.map(() => crypto.randomUUID())
  return instance.rows((rows) => {
    const ids: number[] = []
    for (const [index, entry] of entries.entries()) {
      const at = Date.parse(entry.at)
      const isTracked = entry.visitor !== undefined || entry.dims !== undefined
      const { id } = rows.get<{ id: number }>(sql`insert into revenue_transactions
        (site_id, provider, external_id, type, parent_id, amount_minor, currency, trust, recurring, occurred_at, received_at, visitor,
          visitor_kind, visit_started_at, link_id, dims_json, touches_json, items_json)
        values (${siteId}, 'generic', ${externalIds[index]!}, ${entry.type ?? "sale"}, ${entry.of === undefined ? null : ids[entry.of]!},
          ${entry.amount}, ${entry.currency ?? "EUR"}, ${entry.trust ?? "webhook"}, ${entry.recurring ?? null}, ${at}, ${at},
          ${entry.visitor === undefined ? null : nameOf.get(entry.visitor)!}, ${isTracked ? (entry.kind ?? "rotating") : null},
          ${isTracked ? at : null}, ${entry.link ?? null}, ${JSON.stringify(entry.dims ?? {})},
          ${JSON.stringify((entry.touches ?? []).map((touch, i) => ({ at: at - 1_000 + i, sequence: i, ...touch })))},
          ${JSON.stringify(entry.items ?? [])}) returning id`)!
      ids.push(id)
    }
    packTransactions(rows, siteId, ids, numberer)
    return ids
  })
}
