/** Folds sale events into transactions, each once: transactions and position are written in one transaction. */
import { type RowStatements, type SaleEvent, type Site, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { type Claim, claimOf } from "../orders/claim.ts"
import { recordRefund } from "../orders/refunds.ts"
import { prefetchClaims, recordSale } from "../orders/sales.ts"
import { NEW } from "../orders/transaction.ts"
import type { RevenueWriter } from "../orders/writer.ts"
import { Unpacked } from "../packed/chunks.ts"
import { type Attribution, type Lookup, SLICE } from "./attribution.ts"
import { storeBatches } from "./batches.ts"
import type { SliceOptions, Writing } from "./writing.ts"

interface FoldingParts {
  writing: Writing
  attribution: Pick<Attribution, "lookUp">
}

/** Sale events to fold, and the visits that led to them. */
interface Batch {
  /** Place before these events. */
  position: number
  events: readonly SaleEvent[]
  lookup: Lookup
}

export function createFolding({ sales, rows }: RevenueHost, { writing, attribution }: FoldingParts) {
  const positionOf = (siteId: number): Promise<number> => rows.write((statements) => readPosition(statements, siteId))

  async function readAfter(site: Site, position: number, signal?: AbortSignal): Promise<Batch | undefined> {
    const events = await sales.after(site.id, position, SLICE)
    if (events.length === 0) return undefined
    return { position, events, lookup: await attribution.lookUp(site, events.map(tracedEvent), signal) }
  }

  function writeBatch(site: Site, { position, events, lookup }: Batch, options: Omit<SliceOptions, "kind">): Promise<void> {
    const writeEvents = (writer: RevenueWriter, slice: readonly SaleEvent[], statements: RowStatements): void => {
      const first = events.indexOf(slice[0]!) // a slice is not empty
      const before = first === 0 ? position : events[first - 1]!.place
      if (rows.isShared && readPosition(statements, site.id) !== before) return // another node has folded it meanwhile
      // Read again, because an event can have been erased since, and its visit can have moved.
      const claims = writer.events(slice.map(({ sequence }) => sequence)).map((event) => attributed(claimOf(event), lookup))
      prefetchClaims(writer.book, claims)
      for (const claim of claims) fold(writer, claim)
      statements.run(sql`insert into revenue_cursor (site_id, position) values (${site.id}, ${slice.at(-1)!.place})
        on conflict (site_id) do update set position = excluded.position`)
    }
    return writing.writeSlices(site, events, writeEvents, { ...options, kind: "fold" })
  }

  /** Folds the next sale events. Returns whether more may follow. */
  async function foldNext(site: Site, signal?: AbortSignal): Promise<boolean> {
    const read = async (batch?: Batch) => readAfter(site, batch?.events.at(-1)?.place ?? (await positionOf(site.id)), signal)
    const unpacked = new Unpacked(site.id)
    const last = await storeBatches({ read, store: (batch) => writeBatch(site, batch, { unpacked, signal }) }, signal)
    await writing.packRest(site, unpacked)
    return last !== undefined
  }

  return {
    /** Folds the new sale events of a site. */
    async fold(site: Site, signal?: AbortSignal): Promise<void> {
      while (!signal?.aborted && (await writing.inTurn(site.id, () => foldNext(site, signal)))) await rows.pause()
    },

    /** Returns whether a site has sale events to fold. */
    hasNew: async (siteId: number): Promise<boolean> => sales.hasNew(siteId, await positionOf(siteId)),
  }
}
export type Folding = ReturnType<typeof createFolding>

const readPosition = ({ get }: Pick<RowStatements, "get">, siteId: number): number =>
  get<{ position: number }>(sql`select position from revenue_cursor where site_id = ${siteId}`)?.position ?? 0

const tracedEvent = ({ sequence, at }: SaleEvent) => ({
  ...{ id: 0, sale_sequence: sequence, visit_sequence: null, visitor: null, person: null, occurred_at: at, visit_started_at: null },
  is_open: NEW,
})

function fold(writer: RevenueWriter, claim: Claim): void {
  if (claim.type === "sale") recordSale(writer, claim)
  else recordRefund(writer, claim)
}

/** Adds the visit to a claim. One whose visit was not found, or has moved since, is looked up again later. */
function attributed(claim: Claim, lookup: Lookup): Claim {
  const visit = lookup({ id: 0, sale_sequence: claim.sale_sequence, occurred_at: claim.occurred_at }, claim.event)
  return visit?.visit_sequence === claim.visit_sequence ? Object.assign(claim, { visit }) : claim
}
