/** Copies visits between the store of a node and ClickHouse, as parts of a move. */
import { type Clickhouse, ClickhouseFault } from "../../store/clickhouse/client.ts"
import { ROW_COLUMNS } from "../../store/clickhouse/row-binary.ts"
import { ChangeReader } from "../../store/clickhouse/ship/changes.ts"
import { Shipper } from "../../store/clickhouse/ship/shipper.ts"
import { TotalsShipper } from "../../store/clickhouse/ship/totals.ts"
import type { SegmentKind } from "../../store/events/bytes/lanes.ts"
import { OutdatedSnapshot } from "../../store/events/dictionary/read-dictionary.ts"
import { MaskedPart } from "../../store/events/masked-part.ts"
import type { RemoteOpening } from "../../store/events/moving/adoption.ts"
import type { Adopt } from "../../store/events/moving/moving.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import type { MovingOptions } from "./moving.ts"

/** Number of attempts while ClickHouse does not answer, and the pause between them. */
const ATTEMPTS = 10
const PAUSE_MS = 1_000

/** Sends everything that ClickHouse does not have yet. What it has confirmed is recorded, so that another attempt continues from there. */
export async function sendEverything(options: MovingOptions & { check(): void }): Promise<void> {
  const { events, path, node, clickhouse, siteKey, clock, report, check } = options
  const reader = new ChangeReader(path, node)
  try {
    const totals = new TotalsShipper({ reader, clickhouse, node })
    const shipper = new Shipper({
      ...{ reader, node, siteKey, clock },
      insert: (rows, token) => clickhouse.insert("visits", ROW_COLUMNS, rows, { settings: { insert_deduplication_token: token } }),
      shipTotals: () => totals.ship(),
      onConfirmed: ({ position, segments }) => events.confirmShipped(position, segments, clock.now()),
      onFault() {},
    })
    shipper.synced(events.lastRecord())
    const total = events.unshipped().bytes
    for (let left = ATTEMPTS, hasMore = true; hasMore; ) {
      check()
      report({ what: "sending bytes of events to ClickHouse", done: total - events.unshipped().bytes, total })
      try {
        hasMore = await shipper.ship()
        left = ATTEMPTS
      } catch (error) {
        if (error instanceof OutdatedSnapshot) continue
        if (!(error instanceof ClickhouseFault) || error.code !== undefined || --left === 0) throw error
        await Bun.sleep(PAUSE_MS)
      }
    }
  } finally {
    reader.close()
  }
}

interface Wanted {
  snapshot: Snapshot
  kind: SegmentKind
  /** By place of a part: its visits to fetch, 1 in the mask. */
  masks: ReadonlyMap<number, Uint8Array>
  adopt: Adopt
}

/** Stores visits that only ClickHouse has in the store of the node. */
export async function fetchVisits(options: MovingOptions, { snapshot, kind, masks, adopt }: Wanted): Promise<void> {
  const { node, clickhouse, clock, report } = options
  let done = 0
  for (const [place, mask] of masks) {
    const part = snapshot.parts[place]!
    const chosen = new MaskedPart(part, (row) => mask[row] === 1)
    await adopt(
      {
        ...{ kind, node, part: chosen, run: runOf(part) },
        text: (name, id) => snapshot.dictionary(name).text(id),
        visitor: (ordinal) => snapshot.visitors.number(ordinal),
        openings: await openingsOf(clickhouse, kind, chosen),
      },
      clock.now(),
    )
    report({ what: `fetching ${kind} of site ${snapshot.siteId}`, done: ++done, total: masks.size })
  }
}

/** Returns the run of an import that a part of the reader of ClickHouse is of. */
const runOf = (part: Part): number => (part as Part & { run: number }).run // a `SlicePart`

interface OpeningRow {
  sequence: string
  visit: string
  opened_at: string
  opener: string
}

/** Returns how visits were opened, as far as their first events and visitors do not tell. */
async function openingsOf(clickhouse: Clickhouse, kind: SegmentKind, part: Part): Promise<RemoteOpening[]> {
  const sql = `select sequence, visit, opened_at, opener from visits final
    where site_id = {site:UInt32} and kind = {kind:String} and import_id = {import:UInt32}
      and started_at between {from:Int64} and {to:Int64} and (visit != sequence or identified != 0)`
  const parameters = { site: part.siteId, kind, import: part.importId, from: part.minStart, to: part.maxStart }
  const chosen = new Set(part.sequences())
  const rows = await clickhouse.rows<OpeningRow>(sql, { parameters })
  const all = rows.map((row) => ({
    sequence: Number(row.sequence),
    opening: Number(row.visit),
    openedAt: Number(row.opened_at),
    opener: Number(row.opener),
  }))
  return all.filter(({ sequence }) => chosen.has(sequence))
}
