import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { fault } from "../domain/shape.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import {
  chooseSchedule,
  declareSchedule,
  listSchedules,
  noteScheduleRun,
  planSchedule,
  type Schedule,
  scheduleByName,
} from "../store/catalog/schedules.ts"
import type { Jobs } from "./jobs.ts"

/** When a kind of job comes again and again. */
export interface Recurring {
  /** Five fields: minute, hour, day of month, month, day of week. */
  cron: string
  /** The instance's own unless another is named. */
  timezone?: string
}

/**
 * Makes jobs when they are due. A run is known by the moment it was due for, so it is made once, over restarts, jumps of the
 * clock and days of 25 hours; of what was missed while the process was down the latest is made up for.
 */
export interface Schedules {
  /** Before `start`. */
  declare(kind: string, recurring: Recurring, isOn?: () => boolean): void
  /** Brings what is stored to what was declared. */
  start(): Promise<void>
  /** Makes the jobs that are due. Called every second. */
  tick(): Promise<void>
  /** The clock has jumped: what is planned is planned anew. */
  replan(): Promise<void>
  list(): Promise<Schedule[]>
  /** Undefined for a name that nobody declared. Throws `validation_failed` for what is no cron expression. */
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
  /** Of the instance. */
  timezone: string
}

/** The first moment after another one. Undefined when there is none, or the expression is none. */
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

  async function stored(): Promise<Map<string, Schedule>> {
    const rows = (await listSchedules(catalog)).filter(({ name }) => declared.has(name))
    return new Map(rows.map((row) => [row.name, row]))
  }
  async function reload(): Promise<void> {
    planned = await stored()
  }
  /** What nobody has stored yet: people may ask before `start`. */
  const asDeclared = (name: string, { cron, timezone: zone = timezone }: Recurring): Schedule => ({
    ...{ name, cron, timezone: zone, enabled: true },
    ...{ last_run_at: null, last_state: null, next_run_at: null },
  })
  async function plan({ name, cron, timezone: zone }: Schedule, after: number): Promise<void> {
    await planSchedule(catalog, name, nextRun(cron, zone, after) ?? null)
  }
  /** The next moment is stored with the job that was due: never one without the other. */
  async function makeDue({ name, cron, timezone: zone, next_run_at }: Schedule): Promise<void> {
    const now = clock.now()
    await catalog.transaction(async (statements) => {
      if (declared.get(name)?.isOn()) {
        const slot = new Date(next_run_at!).toISOString() // it is due
        const job = await jobs.enqueue({ kind: name, slot, join: true }, statements)
        if (job) await noteScheduleRun(statements, name, now)
      }
      await planSchedule(statements, name, nextRun(cron, zone, now) ?? null)
    })
  }

  return {
    declare(kind, recurring, isOn = () => true) {
      if (nextRun(recurring.cron, recurring.timezone ?? timezone, 0) === undefined)
        throw new Error(`${recurring.cron} is no schedule of ${kind}`)
      declared.set(kind, { recurring, isOn })
    },
    async start() {
      for (const [name, { recurring }] of declared) await declareSchedule(catalog, asDeclared(name, recurring))
      await reload()
      for (const schedule of planned.values()) if (schedule.next_run_at === null) await plan(schedule, clock.now())
      await reload()
    },
    async tick() {
      const due = [...planned.values()].filter(({ enabled, next_run_at }) => enabled && next_run_at !== null && next_run_at <= clock.now())
      for (const schedule of due) await makeDue(schedule)
      if (due.length > 0) await reload()
    },
    async replan() {
      for (const schedule of planned.values()) if ((schedule.next_run_at ?? 0) > clock.now()) await plan(schedule, clock.now())
      await reload()
    },
    async list() {
      const rows = await stored()
      return [...declared.keys()].sort().map((name) => rows.get(name) ?? asDeclared(name, declared.get(name)!.recurring))
    },
    async change(name, { cron, enabled }, alongside) {
      const own = declared.get(name)
      if (!own) return undefined
      const changed = await catalog.transaction(async (statements) => {
        if (!(await scheduleByName(statements, name))) await declareSchedule(statements, asDeclared(name, own.recurring))
        const before = (await scheduleByName(statements, name))! // declared just now if it was not there
        const wanted = { cron: cron ?? before.cron, enabled: enabled ?? before.enabled }
        const next = nextRun(wanted.cron, before.timezone, clock.now())
        if (next === undefined) throw noCron()
        await chooseSchedule(statements, name, { cron: cron ?? null, enabled: wanted.enabled, next_run_at: next })
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
