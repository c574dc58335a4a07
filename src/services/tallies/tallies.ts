/** The counters of an instance: those of its only node, or of all nodes on ClickHouse, which also has the user ids that they have stored. */
import type { DropReason } from "../../domain/event.ts"
import { type Clickhouse, withStoreFault } from "../../store/clickhouse/client.ts"
import {
  deleteOldTallies,
  deleteTallies,
  dropsOfOthers,
  minutesOfOthers,
  type SharedTallyChanges,
  samplesOfOthers,
  storeTallies,
} from "../../store/clickhouse/tallies.ts"
import type { EventStore } from "../../store/events/events.ts"
import { byDayAndCount, type DropRow } from "../../store/events/tables/drops.ts"
import type { IngestMinute, MinuteRange } from "../../store/events/tables/tallies.ts"
import type { TallyChanges } from "../../store/events/tables/tally-changes.ts"
import type { DropSample } from "../../store/events/writer.ts"
import { createExclusive } from "../runtime/tasks.ts"

/** Reads reject with a `StoreFault` while ClickHouse cannot be reached. */
export interface StoredTallies {
  /** Lists the drop counts of a site between two local days, both inclusive. */
  drops(siteId: number, fromDay: string, toDay: string): Promise<DropRow[]>
  /** Lists the latest dropped events of a site, newest first. */
  samples(siteId: number): Promise<DropSample[]>
  /** Lists the latest dropped events of all sites and of the instance, newest first. */
  latestSamples(reason: DropReason | undefined, limit: number): Promise<(DropSample & { site_id: number })[]>
  /** Lists the counts per minute of one site or of all sites together. Those of the last seconds of other nodes are missing. */
  ingestMinutes(range: MinuteRange): Promise<Omit<IngestMinute, "site_id">[]>
  /** Deletes the counters of a site. */
  forget(siteId: number): Promise<void>
  /** Deletes drop counts of days before one, and counts of minutes before one. */
  forgetOld(before: { day: string; minute: number }): Promise<void>
}

export const ownTallies = (events: EventStore): StoredTallies => ({
  drops: async (...args) => events.drops(...args),
  samples: async (siteId) => events.dropSamples(siteId),
  latestSamples: async (...args) => events.latestDropSamples(...args),
  ingestMinutes: async (range) => events.ingestMinutes(range),
  forget: (siteId) => events.forgetTallies(siteId),
  forgetOld: async ({ day }) => events.forgetDays(day), // minutes are deleted when new ones are added
})

/** The counters of all nodes. The node's own are read from its store, and those of others from ClickHouse, where each node sends its own. */
export interface SharedTallies extends StoredTallies {
  /** Sends what has changed in the store of this node. */
  send(): Promise<void>
  /** Deletes the counters of a site that this node has sent before its store forgot them. What has been counted since is sent again. */
  forgetAgain(siteId: number): Promise<void>
}

/** Changes that are sent at once. */
const SLICE = 5_000
/** Number of dropped events that are shown of a site. */
const MAX_SAMPLES = 100

export function sharedTallies(events: EventStore, clickhouse: Clickhouse, node: number): SharedTallies {
  events.beginTallyChanges()
  /** What is sent while a site is forgotten would come back. */
  const { run } = createExclusive()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => withStoreFault(run(work))

  async function sendAll(): Promise<void> {
    for (let changes = events.tallyChanges(SLICE); changes; changes = events.tallyChanges(SLICE)) {
      await events.sync() // after a power failure other rows could get the same versions
      await storeTallies(clickhouse, node, { ...changes, userIds: await numbered(changes.userIds) })
      events.forgetTallyChanges(changes.last)
    }
  }

  async function numbered(userIds: TallyChanges["userIds"]): Promise<SharedTallyChanges["userIds"]> {
    const all: SharedTallyChanges["userIds"][number][] = []
    for (const [siteId, rows] of Map.groupBy(userIds, ({ site_id }) => site_id)) {
      const numbers = await events.numbersOfPeople(
        siteId,
        rows.map(({ key }) => key),
      )
      for (const [at, { userId }] of rows.entries()) all.push({ site_id: siteId, visitor: numbers[at]!, userId })
    }
    return all
  }

  return {
    async drops(siteId, from, to) {
      const others = await withStoreFault(dropsOfOthers(clickhouse, node, siteId, from, to))
      return summed([...events.drops(siteId, from, to), ...others], ({ day, reason, entry }) => `${day} ${reason} ${entry}`).sort(
        byDayAndCount,
      )
    },
    async samples(siteId) {
      const others = await withStoreFault(samplesOfOthers(clickhouse, node, { siteId, limit: MAX_SAMPLES }))
      return newest([...events.dropSamples(siteId), ...others.map(({ site_id: _, ...sample }) => sample)], MAX_SAMPLES)
    },
    async latestSamples(reason, limit) {
      const others = await withStoreFault(samplesOfOthers(clickhouse, node, { reason, limit }))
      return newest([...events.latestDropSamples(reason, limit), ...others], limit)
    },
    async ingestMinutes(range) {
      const others = await withStoreFault(minutesOfOthers(clickhouse, node, range))
      return summed([...events.ingestMinutes(range), ...others], ({ minute, outcome }) => `${minute} ${outcome}`)
    },
    async forgetOld(before) {
      events.forgetDays(before.day)
      await inTurn(() => deleteOldTallies(clickhouse, before))
    },
    send: () => inTurn(sendAll),
    forget: (siteId) =>
      inTurn(async () => {
        await events.forgetTallies(siteId)
        await deleteTallies(clickhouse, siteId)
      }),
    forgetAgain: (siteId) =>
      inTurn(async () => {
        await deleteTallies(clickhouse, siteId, node)
        await events.repeatTallies(siteId)
      }),
  }
}

/** Adds up the counts of rows with the same key. */
function summed<Row extends { count: number }>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const key = keyOf(row)
    sums.set(key, { ...row, count: row.count + (sums.get(key)?.count ?? 0) })
  }
  return [...sums.values()]
}

const newest = <Sample extends DropSample>(samples: Sample[], limit: number): Sample[] =>
  samples.sort((a, b) => b.at - a.at).slice(0, limit)
