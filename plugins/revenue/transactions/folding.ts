/** Folds sale events into transactions, each once: transactions and position are written in one transaction. */
import { type SaleEvent, type Site, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import type { Claim } from "./claim.ts"
import { NO_DETAILS } from "./claim.ts"
import { recordRefund } from "./refunds.ts"
import { recordSale } from "./sales.ts"
import type { RevenueWriter } from "./writer.ts"
import type { Writing } from "./writing.ts"

/** Number of sale events per transaction of the writer. Incoming events wait for it, a few milliseconds. */
const SLICE = 250

export function createFolding({ sales, rows }: RevenueHost, writing: Writing) {
  const positionOf = (siteId: number): Promise<number> => rows.write((statements) => readPosition(statements, siteId))

  /** Folds a slice. Returns whether more may follow. */
  async function foldSlice(site: Site): Promise<boolean> {
    const position = await positionOf(site.id)
    const read = await sales.after(site.id, position, SLICE)
    const last = read.at(-1)
    if (!last) return false
    await writing.write(site, (writer) => {
      // Read again, because an event can have been erased since, and its visit can have moved.
      const sequences = read.map(({ sequence }) => sequence)
      for (const event of sales.bySequence(site.id, sequences)) fold(writer, event)
      writer.rows.run(sql`insert into revenue_cursor (site_id, position) values (${site.id}, ${last.sequence})
        on conflict (site_id) do update set position = excluded.position`)
    })
    return read.length === SLICE
  }

  return {
    /** Folds the new sale events of a site. */
    async fold(site: Site, signal?: AbortSignal): Promise<void> {
      while (!signal?.aborted && (await writing.inTurn(site.id, () => foldSlice(site)))) await Bun.sleep(0)
    },

    /** Returns whether a site has sale events to fold. */
    hasNew: async (siteId: number): Promise<boolean> => sales.hasNew(siteId, await positionOf(siteId)),
  }
}
export type Folding = ReturnType<typeof createFolding>

const readPosition = ({ get }: Pick<RevenueWriter["rows"], "get">, siteId: number): number =>
  get<{ position: number }>(sql`select position from revenue_cursor where site_id = ${siteId}`)?.position ?? 0

function fold(writer: RevenueWriter, event: SaleEvent): void {
  if (event.amount_minor < 0) recordRefund(writer, refundOf(event))
  else recordSale(writer, saleOf(event))
}

/** Returns what a sale event with a positive amount says. */
export const saleOf = (event: SaleEvent): Claim => ({
  ...claimOf(event),
  type: "sale",
  external_id: event.order_id === null ? eventId(event) : `order:${event.order_id}`,
  amount_minor: event.amount_minor,
})

const refundOf = (event: SaleEvent): Claim => ({
  ...claimOf(event),
  type: "refund",
  external_id: eventId(event),
  amount_minor: -event.amount_minor,
})

const eventId = ({ sequence }: SaleEvent): string => `event:${sequence}`

const claimOf = (event: SaleEvent) => ({
  ...NO_DETAILS,
  provider: event.import_id === 0 ? ("tracker" as const) : ("import" as const),
  order_id: event.order_id,
  currency: event.currency,
  trust: event.trust,
  import_id: event.import_id,
  occurred_at: event.at,
  sale_sequence: event.sequence,
  visit_sequence: event.visit_sequence,
  event: event.name,
})
