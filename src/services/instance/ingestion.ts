import type { Clock } from "../../domain/clock.ts"
import { DROP_REASONS, type DropReason, INGEST_OUTCOMES, type IngestOutcome } from "../../domain/event.ts"
import { instantText, parseInstant } from "../../domain/moment.ts"
import type { IngestCounts } from "../../ingest/commit/outcomes.ts"
import { ArgumentReader, refuseArgument, refuseArguments } from "../../query/parse/arguments.ts"
import type { EventStore } from "../../store/events/events.ts"
import { countsForAll, type IngestMinute } from "../../store/events/tables/tallies.ts"
import type { DropSample } from "../../store/events/writer.ts"
import type { Task } from "../runtime/tasks.ts"
import type { StoredTallies } from "../tallies/tallies.ts"

/** Outcomes of the events of a minute. */
export interface IngestionMinute {
  at: string
  accepted: number
  dropped: Partial<Record<DropReason, number>>
  refused_storage: number
  refused_queue: number
}

export interface Ingestion {
  data: IngestionMinute[]
  totals: Omit<IngestionMinute, "at">
  queue_depth: number
  /** Durations of commits. Null before the first one. */
  commit: { p50_ms: number; p99_ms: number } | null
  /** Arrival of the oldest event that is not yet sealed. Null when all are sealed. */
  oldest_unsealed_at: string | null
}

/** Ingestion statistics of the whole instance. The queue, the commits and the unsealed events are those of this node. */
export interface ConsoleIngestion {
  /** Returns the minutes of a range of at most a day. Default: the last hour. Throws `invalid_query`. */
  minutes(query: Record<string, unknown>): Promise<Ingestion>
  /** Returns the newest samples of dropped events of all sites. Throws `invalid_query`. */
  rejected(query: Record<string, unknown>): Promise<(DropSample & { site_id: number })[]>
  /** Stores the counts. */
  task: Task
  flush(): void
}

interface IngestionOptions {
  clock: Pick<Clock, "now">
  counts: IngestCounts
  events: Pick<EventStore, "addIngestMinutes" | "oldestUnsealedAt">
  tallies: Pick<StoredTallies, "ingestMinutes" | "latestSamples">
  /** The nodes that share the catalog, which see counts of each other once they are stored. */
  nodes: object | undefined
  queueDepth(): number
}

const MINUTE_MS = 60_000
const MAX_MINUTES = 24 * 60
const DEFAULT_MINUTES = 60
const RETAINED_MINUTES = 7 * 24 * 60
const SAMPLES = 100
const ROWS_AT_ONCE = 250

/** Returns the first epoch minute whose counts are not deleted yet. */
export const firstStoredMinute = (now: number): number => Math.floor(now / MINUTE_MS) - RETAINED_MINUTES

export function createIngestion({ clock, counts, events, tallies, nodes, queueDepth }: IngestionOptions): ConsoleIngestion {
  function write(rows: readonly IngestMinute[]): void {
    events.addIngestMinutes(rows, firstStoredMinute(clock.now()))
    counts.stored(rows)
  }
  /** Writes in several transactions, because each minute can have a row for each site. */
  async function writeInTurn(): Promise<void> {
    const rows = counts.waiting()
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      write(rows.slice(at, at + ROWS_AT_ONCE))
      await Bun.sleep(0)
    }
  }
  return {
    flush: () => write(counts.waiting()),
    task: { name: "write-ingest-minutes", every: nodes ? 10 : 60, run: writeInTurn },
    async minutes(query) {
      const range = readRange(query, clock.now())
      // Counts that are not stored yet are included, even if they cannot be written at the moment.
      const isRequested = (row: IngestMinute) =>
        row.minute >= range.from &&
        row.minute <= range.to &&
        (range.siteId === undefined ? countsForAll(row) : range.siteId === row.site_id)
      const rows = [...(await tallies.ingestMinutes(range)), ...counts.waiting().filter(isRequested)]
      const byMinute = Map.groupBy(rows, ({ minute }) => minute)
      const oldest = events.oldestUnsealedAt()
      return {
        data: Array.from({ length: range.to - range.from + 1 }, (_, i) => ({
          at: instantText((range.from + i) * MINUTE_MS),
          ...countsOf(byMinute.get(range.from + i) ?? []),
        })),
        totals: countsOf(rows),
        queue_depth: queueDepth(),
        commit: counts.commits() ?? null,
        oldest_unsealed_at: oldest === undefined ? null : instantText(oldest),
      }
    },
    async rejected(query) {
      const reader = new ArgumentReader(query, ["reason"])
      const reason = reader.choice("reason", DROP_REASONS)
      refuseArguments(reader, "text")
      return tallies.latestSamples(reason, SAMPLES)
    },
  }
}

function countsOf(rows: readonly { outcome: IngestOutcome; count: number }[]): Omit<IngestionMinute, "at"> {
  const sums = new Map<IngestOutcome, number>()
  for (const { outcome, count } of rows) sums.set(outcome, (sums.get(outcome) ?? 0) + count)
  const dropped = INGEST_OUTCOMES.filter((outcome): outcome is DropReason => DROP_REASONS.some((reason) => reason === outcome))
  return {
    accepted: sums.get("accepted") ?? 0,
    dropped: Object.fromEntries(dropped.flatMap((reason) => (sums.has(reason) ? [[reason, sums.get(reason)!]] : []))),
    refused_storage: sums.get("refused_storage") ?? 0,
    refused_queue: sums.get("refused_queue") ?? 0,
  }
}

function readRange(query: Record<string, unknown>, now: number): { from: number; to: number; siteId: number | undefined } {
  const reader = new ArgumentReader(query, ["from", "to", "site"])
  const moment = (name: "from" | "to"): number | undefined => {
    const text = reader.text(name, { min: 20, max: 40 })
    const at = text === undefined ? undefined : parseInstant(text)
    if (text !== undefined && at === undefined)
      reader.refuse({ pointer: `/${name}`, code: "invalid_date", detail: `${name} must be a time in RFC 3339.` })
    return at
  }
  const [from, to] = [moment("from"), moment("to")]
  const siteId = reader.integer("site", { min: 0, max: Number.MAX_SAFE_INTEGER })
  refuseArguments(reader, "text")
  const last = Math.floor(Math.min(to ?? now, now) / MINUTE_MS)
  const first = from === undefined ? last - DEFAULT_MINUTES + 1 : Math.floor(from / MINUTE_MS)
  if (first > last || last - first >= MAX_MINUTES)
    refuseArgument({ pointer: "/from", code: "invalid_range", detail: `from must be before to, by at most ${MAX_MINUTES} minutes.` })
  return { from: first, to: last, siteId }
}
