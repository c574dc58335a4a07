import type { JobState } from "../../domain/job.ts"
import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** The schedule of a recurring job. */
export interface Schedule {
  /** The kind of the job. */
  name: string
  /** Cron expression with five fields. */
  cron: string
  timezone: string
  enabled: boolean
  last_run_at: number | null
  /** State of the latest job. */
  last_state: JobState | null
  next_run_at: number | null
}

type Row = Omit<Schedule, "enabled"> & { enabled: number }
const COLUMNS = sql`
  name, cron, timezone, enabled, last_run_at, next_run_at,
  (select state from jobs where kind = name and slot is not null order by id desc limit 1) as last_state`

export async function listSchedules(catalog: Statements): Promise<Schedule[]> {
  return (await catalog.all<Row>(sql`select ${COLUMNS} from schedules order by name limit 1000`)).map(toSchedule)
}

export async function scheduleByName(catalog: Statements, name: string): Promise<Schedule | undefined> {
  const row = await catalog.get<Row>(sql`select ${COLUMNS} from schedules where name = ${name}`)
  return row && toSchedule(row)
}

/** Inserts a schedule with the program's default time, or updates it unless an admin has chosen another time. */
export const declareSchedule = (
  catalog: Statements,
  { name, cron, timezone }: Pick<Schedule, "name" | "cron" | "timezone">,
): Promise<void> =>
  catalog.run(sql`
    insert into schedules (name, cron, timezone) values (${name}, ${cron}, ${timezone})
    on conflict do update set
      next_run_at = case when cron = excluded.cron and timezone = excluded.timezone then next_run_at end,
      cron = excluded.cron, timezone = excluded.timezone
      where is_custom = 0`)

export const chooseSchedule = (
  catalog: Statements,
  name: string,
  { cron, enabled, next_run_at }: { cron: string | null; enabled: boolean; next_run_at: number | null },
): Promise<void> =>
  catalog.run(sql`
    update schedules set cron = coalesce(${cron}, cron), is_custom = max(is_custom, ${cron !== null}), enabled = ${enabled},
      next_run_at = ${next_run_at}
    where name = ${name}`)

export const planSchedule = (catalog: Statements, name: string, next_run_at: number | null): Promise<void> =>
  catalog.run(sql`update schedules set next_run_at = ${next_run_at} where name = ${name}`)

export const noteScheduleRun = (catalog: Statements, name: string, at: number): Promise<void> =>
  catalog.run(sql`update schedules set last_run_at = ${at} where name = ${name}`)

const toSchedule = ({ enabled, ...row }: Row): Schedule => ({ ...row, enabled: enabled === 1 })
