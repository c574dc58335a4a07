import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { JOBS } from "../../domain/limits.ts"
import { fault } from "../../domain/shape.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  chooseSchedule,
  claimSlot,
  declareSchedule,
  finishJob,
  isSlotDone,
  listSchedules,
  noteScheduleRun,
  planSchedule,
  renewJobLeases,
  type Schedule,
  scheduleByName,
} from "../../store/catalog/jobs.ts"
import type { Reload } from "../changes/changes.ts"
import type { LiveNodes } from "../runtime/nodes.ts"
import type { Random } from "../secrets/secrets.ts"
import { type Jobs, slotOnNode } from "./jobs.ts"

/** Schedule of a recurring kind of job. */
export interface Recurring {
  /** Cron expression with five fields: minute, hour, day of month, month, day of week. */
  cron: string
  /** Time zone. Default: the instance's. */
  timezone?: string
  /**
   * Returns whether a run would find something to do, by a cheap test. Otherwise the run is skipped: a job costs several transactions, and its
   * code memory. Default: always.
   */
  hasWork?(): boolean | Promise<boolean>
}

/**
 * Creates jobs when they are due. A run is identified by the time it was due, so it is created once, across restarts, clock
 * jumps and days of 25 hours. If runs were missed while the process was down, only the latest is made up for.
 */
export interface Schedules {
  /** Declares the schedule of a kind of job, before `start`. */
  declare(kind: string, recurring: Recurring, isOn?: () => boolean): void
  /** Updates the stored schedules to the declared ones. */
  start(): Promise<void>
  /** Creates the jobs that are due. Called every second. */
  tick(): Promise<void>
  /** Plans all runs again, after a clock jump. */
  replan(): Promise<void>
  list(): Promise<Schedule[]>
  /** Reads the stored schedules again, after another node changed one. */
  reload: Reload
  /** Changes a schedule. Returns undefined for an undeclared name. Throws `validation_failed` for an invalid cron expression. */
  change(
    name: string,
    wanted: { cron?: string; enabled?: boolean },
    alongside?: (statements: Statements, change: { before: Schedule; after: Schedule }) => Promise<void>,
  ): Promise<Schedule | undefined>
}

interface SchedulesOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  jobs: Pick<Jobs, "enqueue">
  /** Time zone of the instance. */
  timezone: string
}

/** Returns the first run after a time. Undefined if there is none or the expression is invalid. */
export function nextRun(cron: string, timezone: string, after: number): number | undefined {
  if (cron.trim().split(/\s+/).length !== 5) return undefined
  try {
    return Bun.cron.parse(cron, after, { tz: timezone })?.getTime()
  } catch {
    return undefined
  }
}

export function createSchedules({ catalog, clock, jobs, timezone }: SchedulesOptions): Schedules {
  const declared = new Map<string, { recurring: Recurring; isOn(): boolean }>()
  /** Kept in memory, so that a second in which nothing is due costs nothing. */
  let planned = new Map<string, Schedule>()
  /** The next run of schedules whose latest run was skipped. It is not stored, because a start may repeat the test. */
  const skippedTo = new Map<string, number>()

  async function stored(statements: Statements = catalog): Promise<Map<string, Schedule>> {
    const rows = (await listSchedules(statements)).filter(({ name }) => declared.has(name))
    return new Map(rows.map((row) => [row.name, row]))
  }
  async function reload(statements?: Statements): Promise<void> {
    planned = await stored(statements)
  }
  /** Returns the declared schedule of a job that has no stored one, because schedules can be requested before `start`. */
  const asDeclared = (name: string, { cron, timezone: zone = timezone }: Recurring): Schedule => ({
    ...{ name, cron, timezone: zone, enabled: true },
    ...{ last_run_at: null, last_state: null, next_run_at: null },
  })
  /** Plans the next runs of schedules in one transaction. */
  async function plan(schedules: readonly Schedule[]): Promise<void> {
    const now = clock.now()
    if (schedules.length > 0)
      await catalog.transaction(async (statements) => {
        for (const { name, cron, timezone: zone } of schedules) await planSchedule(statements, name, nextRun(cron, zone, now) ?? null)
      })
    await reload()
  }
  /** Returns whether a declared schedule differs from the stored one. */
  const isChanged = ({ name, cron, timezone: zone }: Schedule): boolean => {
    const known = planned.get(name)
    return known?.cron !== cron || known.timezone !== zone
  }
  const nextOf = ({ name, next_run_at }: Schedule): number | null =>
    next_run_at === null ? null : Math.max(next_run_at, skippedTo.get(name) ?? 0)
  const isDue = (schedule: Schedule): boolean => schedule.enabled && (nextOf(schedule) ?? Number.POSITIVE_INFINITY) <= clock.now()
  /** Skips a due run that would find nothing to do. A test that fails is no reason to skip it. */
  async function isSkipped({ name, cron, timezone: zone }: Schedule): Promise<boolean> {
    const { recurring, isOn } = declared.get(name)! // only declared ones are planned
    const next = nextRun(cron, zone, clock.now())
    if (!recurring.hasWork || next === undefined || !isOn()) return false
    if (await Promise.try(() => recurring.hasWork!()).catch(() => true)) return false
    skippedTo.set(name, next)
    return true
  }
  /** Enqueues a due job and stores the time of its next run in one transaction. */
  async function makeDue(schedule: Schedule): Promise<void> {
    const { name, cron, timezone: zone } = schedule
    const now = clock.now()
    await catalog.transaction(async (statements) => {
      if (declared.get(name)?.isOn()) {
        const slot = new Date(nextOf(schedule)!).toISOString() // it is due
        const job = await jobs.enqueue({ kind: name, slot, join: true }, statements)
        if (job) await noteScheduleRun(statements, name, now)
      }
      await planSchedule(statements, name, nextRun(cron, zone, now) ?? null)
    })
  }

  return {
    reload,
    declare(kind, recurring, isOn = () => true) {
      if (nextRun(recurring.cron, recurring.timezone ?? timezone, 0) === undefined)
        throw new Error(`${recurring.cron} is no schedule of ${kind}`)
      declared.set(kind, { recurring, isOn })
    },
    async start() {
      await reload()
      const changed = [...declared].map(([name, { recurring }]) => asDeclared(name, recurring)).filter(isChanged)
      if (changed.length > 0) {
        await catalog.transaction(async (statements) => {
          for (const schedule of changed) await declareSchedule(statements, schedule)
        })
        await reload()
      }
      const unplanned = [...planned.values()].filter(({ next_run_at }) => next_run_at === null)
      if (unplanned.length > 0) await plan(unplanned)
    },
    async tick() {
      let hasChanged = false
      for (const schedule of [...planned.values()].filter(isDue)) {
        if (await isSkipped(schedule)) continue
        await makeDue(schedule)
        hasChanged = true
      }
      if (hasChanged) await reload()
    },
    async replan() {
      skippedTo.clear()
      await plan([...planned.values()].filter(({ next_run_at }) => (next_run_at ?? 0) > clock.now()))
    },
    async list() {
      const rows = await stored()
      return [...declared.keys()].sort().map((name) => {
        const row = rows.get(name)
        return row ? { ...row, next_run_at: nextOf(row) } : asDeclared(name, declared.get(name)!.recurring)
      })
    },
    async change(name, { cron, enabled }, alongside) {
      const own = declared.get(name)
      if (!own) return undefined
      const changed = await catalog.transaction(async (statements) => {
        if (!(await scheduleByName(statements, name))) await declareSchedule(statements, asDeclared(name, own.recurring))
        const before = (await scheduleByName(statements, name))! // it was declared above if it did not exist
        const wanted = { cron: cron ?? before.cron, enabled: enabled ?? before.enabled }
        const next = nextRun(wanted.cron, before.timezone, clock.now())
        if (next === undefined) throw noCron()
        await chooseSchedule(statements, name, { cron: cron ?? null, enabled: wanted.enabled, next_run_at: next })
        skippedTo.delete(name)
        const after = { ...before, ...wanted, next_run_at: next }
        await alongside?.(statements, { before, after })
        return after
      })
      await reload()
      return changed
    },
  }
}

const noCron = () =>
  new AppError("validation_failed", "1 field is not valid.", {
    errors: [fault("/cron", "invalid_cron", "must be five fields: minute, hour, day of month, month, day of week")],
  })

/**
 * Runs upkeep that determines itself when it is due: once in each site's night, once a day or week. Each run is a row among the
 * jobs, so a slot runs only once, across restarts and clock changes.
 */
export interface JobSlots {
  /** Runs work once per slot. Returns false if the slot was done before or is in progress. A failure frees the slot and is rethrown. */
  once(slot: Slot, work: () => Promise<unknown>): Promise<boolean>
}

interface Slot {
  /** Name of the job after `core.`, such as `back-up`. */
  name: string
  /** Day or week that the slot stands for. */
  due: string
  siteId?: number
  /** Whether the work is on the data folder, so that every node has its own. */
  onDisk?: boolean
}

interface JobSlotsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  nodes?: Pick<LiveNodes, "own"> | undefined
}

export function createJobSlots({ catalog, clock, random, nodes }: JobSlotsOptions): JobSlots {
  /** Identifies this process as the holder of leases. */
  const self = random(8).toHex()
  // Called every minute for every site, so slots that are known to be done are kept in memory.
  const done = new Map<string, string>()

  async function carryOut(id: number, work: () => Promise<unknown>): Promise<void> {
    const renewal = setInterval(() => {
      renewJobLeases(catalog, { by: self, ms: JOBS.leaseMs }).catch(() => {}) // repeated before the lease is over
    }, JOBS.leaseMs / 3)
    const holder = { by: self }
    try {
      await work()
      await finishJob(catalog, id, { state: "done", at: clock.now(), holder })
    } catch (error) {
      const failed = { code: "internal_error", message: "An internal error occurred. See the log of the instance." }
      await finishJob(catalog, id, { state: "failed", at: clock.now(), error: failed, holder })
      throw error
    } finally {
      clearInterval(renewal)
    }
  }

  return {
    async once({ name, due, siteId, onDisk }, work) {
      const key = siteId === undefined ? "" : String(siteId)
      const place = `${name} ${key}`
      if (done.get(place) === due) return false
      const now = clock.now()
      const node = onDisk && nodes ? nodes.own : null
      const shared = siteId === undefined ? due : `${due} of ${siteId}`
      const row = { kind: `core.${name}`, key, slot: node === null ? shared : slotOnNode(shared, node), site_id: siteId ?? null }
      const rest = { organization_id: null, payload: {}, run_at: now, created_by: null, created_at: now, node }
      const job = await claimSlot(catalog, { ...row, ...rest }, { by: self, ms: JOBS.leaseMs, now })
      if (job) await carryOut(job.id, work)
      // Another node may fail at a slot that it has begun.
      if (job || (await isSlotDone(catalog, row))) done.set(place, due)
      return job !== undefined
    },
  }
}
