import { Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Actor } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { AppError, refuseFaults } from "../domain/error.ts"
import { fault, inDocumentOrder, inspect } from "../domain/shape.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { listSettings, putSetting } from "../store/catalog/settings.ts"
import type { Audit } from "./audit.ts"
import type { KeepRules } from "./backup-rotation.ts"
import { nextRun } from "./schedules.ts"

/** When backups are made by themselves, in UTC, and how many are kept. */
export interface BackupPlan {
  /** Five fields; null: never. */
  cron: string | null
  keep: KeepRules
}

export interface BackupSchedule {
  current(): BackupPlan
  /** Where it comes from. */
  source(): "env" | "file" | "db" | "default"
  /** The latest moment up to now at which a backup was due; undefined when none was within a week. */
  lastDue(now: number): number | undefined
  /** `{cron, keep, target?}`. Throws `validation_failed`, `set_elsewhere` where the operator has chosen the time. */
  change(actor: Actor, body: unknown): Promise<BackupPlan>
}

const Count = (least: number, most: number) => t.Integer({ minimum: least, maximum: most })
const BackupPlanInput = t.Object(
  {
    cron: t.Union([t.String({ minLength: 9, maxLength: 100 }), t.Null()], { description: "Five fields, in UTC; null = never" }),
    keep: t.Object({ daily: Count(1, 365), weekly: Count(0, 520) }, { additionalProperties: false }),
    target: t.Optional(t.Union([t.Literal("local")])),
    source: t.Optional(t.Unknown()),
  },
  { additionalProperties: false, title: "BackupPlanInput" },
)
const Stored = t.Object({ cron: t.Union([t.String(), t.Null()]), keep: t.Object({ daily: t.Integer(), weekly: t.Integer() }) })

const KEY = "backup_schedule"
const HOUR_MS = 3_600_000
const WINDOW_MS = 8 * 24 * HOUR_MS

interface Options {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Pick<Audit, "write">
  /** Of the configuration: `03:00`, or `off`. */
  time: string
  keep: KeepRules
  /** Where the operator has set the time, if anywhere. */
  setBy: "env" | "file" | undefined
}

export async function createBackupSchedule({ catalog, clock, audit, time, keep, setBy }: Options): Promise<BackupSchedule> {
  const stored = (await listSettings(catalog)).find(({ key }) => key === KEY)?.value
  const usual: BackupPlan = { cron: time === "off" ? null : cronOf(time), keep }
  let chosen: BackupPlan | undefined = setBy === undefined && Value.Check(Stored, stored) ? stored : undefined
  const current = () => chosen ?? usual
  return {
    current,
    source: () => setBy ?? (chosen ? "db" : "default"),
    lastDue(now) {
      const { cron } = current()
      let due: number | undefined
      if (cron === null) return undefined
      for (let next = nextRun(cron, "UTC", now - WINDOW_MS); next !== undefined && next <= now; next = nextRun(cron, "UTC", next))
        due = next
      return due
    },
    async change(actor, body) {
      const wanted = parsePlan(body, clock.now())
      if (setBy !== undefined)
        throw new AppError("set_elsewhere", "The operator has set the time of backups.", { key: "backup_time", source: setBy })
      await catalog.transaction(
        async (statements) => {
          const updated_by = actor.kind === "user" ? (actor.id ?? null) : null
          await putSetting(statements, { key: KEY, value: wanted, updated_by, updated_at: clock.now() })
          await audit.write(statements, actor, {
            action: "admin.backup.schedule",
            target: { type: "instance", id: "backups", label: "" },
            changes: { schedule: [current(), wanted] },
          })
        },
        () => {
          chosen = wanted
        },
      )
      return wanted
    },
  }
}

const cronOf = (time: string): string => {
  const [hour, minute] = time.split(":")
  return `${Number(minute)} ${Number(hour)} * * *`
}

function parsePlan(body: unknown, now: number): BackupPlan {
  const { fields, faults } = inspect(BackupPlanInput, body)
  const { cron, keep } = fields
  if (typeof cron === "string") {
    const next = nextRun(cron, "UTC", now)
    const after = next === undefined ? undefined : nextRun(cron, "UTC", next)
    if (next === undefined)
      faults.push(fault("/cron", "invalid_cron", "must be five fields: minute, hour, day of month, month, day of week"))
    else if (after !== undefined && after - next < HOUR_MS)
      faults.push(fault("/cron", "out_of_range", "must leave an hour between two backups"))
  }
  refuseFaults(inDocumentOrder(faults, body))
  return { cron: cron!, keep: keep! } // no fault: they are there
}
