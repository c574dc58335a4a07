import type { Log } from "../../domain/log.ts"
import type { TallyGroup } from "../../domain/query.ts"
import type { RecordKind } from "../../domain/record.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { Instance } from "../../services/instance/instance.ts"
import { FOLD_START, type FoldPosition, foldRecords } from "../../services/jobs/record-folds.ts"
import { createExclusive } from "../../services/runtime/tasks.ts"
import type { EngineMove } from "../../store/events/moving/moving.ts"
import { raw, sql } from "../../store/sql.ts"
import type { PluginJobs } from "./jobs.ts"
import type { OwnStatements, OwnTables } from "./own-tables.ts"

/** How the lifetime counters of a plugin's things are kept. */
export interface CounterOptions<Thing, Added> {
  /** Kind of the records that are counted. */
  kind: RecordKind
  /** Properties of a record that decide what it adds. The first one holds the id of the thing. */
  by: readonly [thingId: string, ...others: string[]]
  /**
   * Table of positions, with `site_id` and `node` as its primary key, `at`, `sequence`, `target` and `done_id`. The records of a node are
   * counted up to `sequence`, and those up to `target` only for things whose id is at most `done_id`.
   */
  positions: string
  /** Job of the plugin that calls `run`. */
  job: string
  /** Returns the sites that have things, for the first run of a process. */
  siteIds(): Iterable<number>
  /** Sums what the records of one thing add to its counters. */
  sum(groups: readonly TallyGroup[]): Added
  /** Adds to the counters of a thing. Returns it, or undefined if it was removed. */
  add(statements: OwnStatements, id: number, added: Added): Promise<Thing | undefined>
  /** Runs after each commit with the things that changed. */
  committed(changed: readonly { thing: Thing; added: Added }[]): void
}

/**
 * Lifetime counters of things, such as the clicks of a link. Each node counts the records of its own store, and each record once, whatever
 * interrupts the work. Counters never shrink, also when retention removes the records.
 */
export interface Counters {
  /** Schedules `run` for a site where something was recorded. Without a site it only schedules the job. */
  soon(siteId?: number): void
  /** Counts the new records of a site now. */
  site(siteId: number): Promise<void>
  /** Counts the new records of the scheduled sites; the first time in a process, of all sites. For the job and for `stop`. */
  run(signal?: AbortSignal): Promise<void>
  /** Returns whether `run` has something to count. */
  hasWork(): boolean
  /** Deletes the positions of a site. For `onSiteDelete`. */
  removeSite(siteId: number): Promise<void>
}

/** Delay of the job, and so the age of counters. */
const DELAY_MS = 15_000
/** After this time a record is on disk or lost. A site with a more recent record is counted once more. */
const SETTLED_MS = 10_000
/** Things that one transaction changes. */
const THINGS_PER_TRANSACTION = 200

interface CounterParts {
  db: OwnTables
  engine: Pick<Engine, "tally">
  events: Pick<Instance["events"], "counted">
  jobs: Pick<PluginJobs, "enqueue">
  log: Log
  now(): number
  directory: Pick<Instance["sites"]["directory"], "byId">
  /** Number of this node, 0 for the only process of a catalog. */
  node: number
}

interface Position extends FoldPosition {
  /** Last record of a run that was interrupted. */
  target: number | null
  /** Highest id of a thing that is counted up to `target`. */
  done_id: number
}

const START: Position = { ...FOLD_START, target: null, done_id: 0 }

/**
 * Takes the positions of counters along in a move of the instance's events: without ClickHouse the node is the only process of its catalog,
 * whose number is 0. For `moveRows`.
 */
export async function movePositions(tables: OwnStatements, table: string, { to, node }: EngineMove): Promise<undefined> {
  const positions = raw(table)
  // The first count on ClickHouse continues from the position 0. An earlier one of the node is from before it moved back.
  if (to === "clickhouse") await tables.run(sql`delete from ${positions} where node = ${node}`)
  else
    await tables.run(sql`insert or replace into ${positions} (site_id, node, at, sequence, target, done_id)
      select site_id, 0, at, sequence, target, done_id from ${positions} where node = ${node}`)
}

export const ownCounters =
  ({ db, engine, events, jobs, log, now, directory, node }: CounterParts) =>
  <Thing, Added>(options: CounterOptions<Thing, Added>): Counters => {
    const positions = raw(options.positions)
    /** Time of the latest record by site. */
    const waiting = new Map<number, number>()
    let isFirstRun = true
    let plannedFor = 0
    /** Two runs at the same time would count the same records. */
    const { run: inTurn } = createExclusive()

    /** Returns the position of this node, or that of the only process of the catalog, which it continues if it is the first node. */
    const positionOf = async (siteId: number): Promise<Position> =>
      (await db.get<Position>(sql`select at, sequence, target, done_id from ${positions}
        where site_id = ${siteId} and node in (0, ${node}) order by node desc limit 1`)) ?? START

    async function countSite(siteId: number): Promise<void> {
      const site = directory.byId(siteId)
      if (!site) return
      const since = await positionOf(siteId)
      events.counted(siteId, options.kind, since.sequence)
      if (since.target !== null) await countAfter(site, since)
      await countAfter(site, since.target === null ? since : await positionOf(siteId))
    }

    /** Counts the records after a position: all, or those of the interrupted run, without the things that it has counted. */
    async function countAfter(site: Site, { at, sequence, target, done_id }: Position): Promise<void> {
      const bounds = { since: { at, sequence }, ...(target !== null && { upTo: target }) }
      const { groups, position } = await foldRecords(engine, { site, kind: options.kind, ...bounds, now: now(), by: options.by })
      const to = { at: position.at, sequence: target ?? position.sequence }
      if (to.sequence === sequence) return
      const things = [...Map.groupBy(groups, ({ values }) => Number(values[0]))].filter(([id]) => id > done_id).sort(([a], [b]) => a - b)
      for (let from = 0; from === 0 || from < things.length; from += THINGS_PER_TRANSACTION) {
        const slice = things.slice(from, from + THINGS_PER_TRANSACTION)
        const isLast = from + THINGS_PER_TRANSACTION >= things.length
        const done: Position = isLast
          ? { ...to, target: null, done_id: 0 }
          : { at, sequence, target: to.sequence, done_id: slice.at(-1)![0] } // the slice is full
        await write(site.id, slice, done)
      }
    }

    const write = (siteId: number, slice: readonly [id: number, TallyGroup[]][], { at, sequence, target, done_id }: Position) =>
      db.transaction(async (statements) => {
        const changed: { thing: Thing; added: Added }[] = []
        for (const [id, groups] of slice) {
          const added = options.sum(groups)
          const thing = await options.add(statements, id, added)
          if (thing !== undefined) changed.push({ thing, added })
        }
        await statements.run(sql`insert into ${positions} (site_id, node, at, sequence, target, done_id)
          values (${siteId}, ${node}, ${at}, ${sequence}, ${target}, ${done_id})
          on conflict (site_id, node) do update set
            at = excluded.at, sequence = excluded.sequence, target = excluded.target, done_id = excluded.done_id`)
        if (node > 0) await statements.run(sql`delete from ${positions} where site_id = ${siteId} and node = 0`)
        return changed
      }, options.committed)

    function plan(): void {
      if (now() < plannedFor) return
      plannedFor = now() + DELAY_MS
      const job = { runAt: plannedFor, join: true }
      jobs.enqueue(options.job, job).catch((error) => log.warn("counters will be updated later", { job: options.job, error }))
    }

    async function countWaiting(signal: AbortSignal | undefined): Promise<void> {
      const startedAt = now()
      if (isFirstRun) for (const siteId of options.siteIds()) if (!waiting.has(siteId)) waiting.set(siteId, 0)
      isFirstRun = false
      for (const siteId of [...waiting.keys()]) {
        if (signal?.aborted) return
        try {
          await countSite(siteId)
          // Only this loop, which runs in turn, removes entries.
          if (Math.abs(startedAt - waiting.get(siteId)!) >= SETTLED_MS) waiting.delete(siteId)
        } catch (error) {
          log.warn("counters were not updated; the next run does it", { site: siteId, error })
        }
      }
      if (waiting.size > 0) await jobs.enqueue(options.job, { runAt: now() + DELAY_MS, join: true })
    }

    return {
      soon(siteId) {
        if (siteId !== undefined) waiting.set(siteId, now())
        plan()
      },
      site: (siteId) => inTurn(() => countSite(siteId)),
      run: (signal) => inTurn(() => countWaiting(signal)),
      hasWork: () => isFirstRun || waiting.size > 0,
      removeSite: (siteId) => db.run(sql`delete from ${positions} where site_id = ${siteId}`),
    }
  }
