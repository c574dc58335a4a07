import type { Log } from "../../domain/log.ts"
import type { TallyGroup } from "../../domain/query.ts"
import type { RecordKind } from "../../domain/record.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { Instance } from "../../services/instance/instance.ts"
import { FOLD_START, type FoldPosition, foldRecords } from "../../services/jobs/record-folds.ts"
import { raw, sql } from "../../store/sql.ts"
import type { PluginJobs } from "./jobs.ts"
import type { OwnStatements, OwnTables } from "./own-tables.ts"

/** How the lifetime counters of a plugin's things are kept. */
export interface CounterOptions<Thing, Added> {
  /** Kind of the records that are counted. */
  kind: RecordKind
  /** Properties of a record that decide what it adds. The first one holds the id of the thing. */
  by: readonly [thingId: string, ...others: string[]]
  /** Table of the things, with `id`, `site_id` and `counted_to`: the number of the last record in the counters of the row. */
  table: string
  /** Table with `site_id` as its primary key and `sequence`: all things of the site are counted up to this record. */
  positions: string
  /** Column of `positions` with the time of the last run. Default: `at`. */
  positionAt?: string
  /** Job of the plugin that calls `run`. */
  job: string
  /** Returns the sites that have things, for the first run of a process. */
  siteIds(): Iterable<number>
  /** Sums what the records of one thing add to its counters. */
  sum(groups: readonly TallyGroup[]): Added
  /** Adds to the counters of a thing and sets its `counted_to`, where `counted_to < to`. Returns it, or undefined if nothing matched. */
  add(statements: OwnStatements, id: number, added: Added, to: number): Promise<Thing | undefined>
  /** Runs after each commit with the things that changed. */
  committed(changed: readonly { thing: Thing; added: Added }[]): void
}

/**
 * Lifetime counters of things, such as the clicks of a link. Each record is counted once, whatever interrupts the work: a thing stores
 * up to which record it is counted, and so does its site. Counters never shrink, also when retention removes the records.
 */
export interface Counters {
  /** Schedules `run` for a site where something was recorded. Without a site it only schedules the job. */
  soon(siteId?: number): void
  /** Counts the new records of a site now. */
  site(siteId: number): Promise<void>
  /** Counts the new records of the scheduled sites; the first time in a process, of all sites. For the job and for `stop`. */
  run(signal?: AbortSignal): Promise<void>
  /** Deletes the position of a site. For `onSiteDelete`. */
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
  jobs: Pick<PluginJobs, "enqueue">
  log: Log
  now(): number
  directory: Pick<Instance["sites"]["directory"], "byId">
}

export const ownCounters =
  ({ db, engine, jobs, log, now, directory }: CounterParts) =>
  <Thing, Added>(options: CounterOptions<Thing, Added>): Counters => {
    const [table, positions, positionAt] = [raw(options.table), raw(options.positions), raw(options.positionAt ?? "at")]
    /** Time of the latest record by site. */
    const waiting = new Map<number, number>()
    let isFirstRun = true
    let plannedFor = 0
    let lastWork: Promise<unknown> = Promise.resolve()

    async function sumsOf(site: Site, since: FoldPosition, upTo?: number) {
      const bounds = upTo === undefined ? { since } : { since, upTo }
      const { groups, position } = await foldRecords(engine, { site, kind: options.kind, ...bounds, now: now(), by: options.by })
      const sums = new Map<number, Added>()
      for (const [id, ofThing] of Map.groupBy(groups, ({ values }) => Number(values[0]))) sums.set(id, options.sum(ofThing))
      return { sums, position }
    }

    async function countSite(siteId: number): Promise<void> {
      const site = directory.byId(siteId)
      if (!site) return
      const stored = sql`select ${positionAt} as at, sequence from ${positions} where site_id = ${siteId}`
      const since = (await db.get<FoldPosition>(stored)) ?? FOLD_START
      // An interrupted run has left some things ahead of their site. Deleted ones count as well, because they can be restored.
      const ahead = await db.all<{ id: number; counted_to: number }>(
        sql`select id, counted_to from ${table} where site_id = ${siteId} and counted_to > ${since.sequence}`,
      )
      const { sums, position } = await sumsOf(site, since)
      if (position.sequence === since.sequence) return
      for (const [sequence, things] of Map.groupBy(ahead, ({ counted_to }) => counted_to)) {
        const rest = await sumsOf(site, { ...since, sequence }, position.sequence)
        for (const { id } of things) {
          const added = rest.sums.get(id)
          if (added === undefined) sums.delete(id)
          else sums.set(id, added)
        }
      }
      const all = [...sums]
      for (let from = 0; from === 0 || from < all.length; from += THINGS_PER_TRANSACTION) {
        const isLast = from + THINGS_PER_TRANSACTION >= all.length
        await write(siteId, all.slice(from, from + THINGS_PER_TRANSACTION), { position, isLast })
      }
    }

    /** The last transaction of a site stores its position. */
    const write = (siteId: number, slice: readonly [number, Added][], { position, isLast }: { position: FoldPosition; isLast: boolean }) =>
      db.transaction(async (statements) => {
        const changed: { thing: Thing; added: Added }[] = []
        for (const [id, added] of slice) {
          const thing = await options.add(statements, id, added, position.sequence)
          if (thing !== undefined) changed.push({ thing, added })
        }
        if (isLast)
          await statements.run(sql`insert into ${positions} (site_id, ${positionAt}, sequence)
            values (${siteId}, ${position.at}, ${position.sequence})
            on conflict (site_id) do update set ${positionAt} = excluded.${positionAt}, sequence = excluded.sequence`)
        return changed
      }, options.committed)

    /** Runs one after the other: two at the same time would count the same records. */
    function inTurn(work: () => Promise<void>): Promise<void> {
      const done = lastWork.then(work)
      lastWork = done.catch(() => {})
      return done
    }
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
      removeSite: (siteId) => db.run(sql`delete from ${positions} where site_id = ${siteId}`),
    }
  }
