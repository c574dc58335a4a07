import { type Static, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { type Actor, actingUserId } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError, type Fault, refuseFaults } from "../../domain/error.ts"
import { fault, inDocumentOrder, inspect } from "../../domain/shape.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { putSetting, settingByKey } from "../../store/catalog/settings.ts"
import type { Audit } from "../audit/audit.ts"
import type { Reload } from "../changes/changes.ts"
import { nextRun } from "../jobs/schedules.ts"
import type { ShownSecret, StoredSecrets } from "../key-rotation/stored-secrets.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { BucketPlace } from "./bucket.ts"
import type { KeepRules } from "./folder.ts"

/** Schedule of automatic backups in UTC, how many are retained, and whether each is copied to a bucket. */
export interface BackupPlan {
  /** Cron expression with five fields, or null for no automatic backups. */
  cron: string | null
  keep: KeepRules
  target: "local" | "s3"
  /** The configured bucket, also while backups are not copied to it. */
  s3?: StoredBucket
}

/** The schedule as answers show it. */
export interface ShownPlan extends Omit<BackupPlan, "s3"> {
  s3?: Omit<StoredBucket, "secret_id"> & { secret: ShownSecret }
}

/** A bucket without its secret. */
export interface StoredBucket extends Pick<BucketPlace, "endpoint" | "bucket" | "prefix" | "region" | "key_id"> {
  /** Id of the sealed secret. Missing if the operator configured it. */
  secret_id?: number
}

export interface BackupSchedule {
  current(): BackupPlan
  /** Reads the schedule again, after another node changed it. */
  reload: Reload
  /** Returns the source of the schedule. */
  source(): "env" | "file" | "db" | "default"
  /** Returns the latest time up to now at which a backup was due. Undefined if none was due within a week. */
  lastDue(now: number): number | undefined
  /**
   * Changes the schedule to `{cron, keep, target?, s3?}`. Throws `validation_failed`, `set_elsewhere` if the operator configured
   * the time or the bucket, `blocked_address` and `outbound_disabled` for a bucket that must not be called.
   */
  change(actor: Actor, body: unknown): Promise<BackupPlan>
  /** Returns the schedule as answers show it. Of the bucket's secret it only shows whether one is set. */
  shown(): Promise<ShownPlan>
  /** Returns the bucket that receives copies, or undefined if there is none. Throws `unavailable` if the secret cannot be read. */
  bucket(): Promise<BucketPlace | undefined>
}

const Count = (minimum: number, maximum: number) => t.Integer({ minimum: minimum, maximum: maximum })
const BucketInput = t.Object(
  {
    endpoint: t.String({ minLength: 8, maxLength: 300 }),
    bucket: t.String({ pattern: "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$" }),
    prefix: t.Optional(t.String({ maxLength: 200, pattern: "^([A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*/?)?$" })),
    region: t.Optional(t.String({ pattern: "^[a-z0-9-]{1,40}$" })),
    key_id: t.String({ minLength: 1, maxLength: 200, pattern: "^[!-~]+$" }),
    // The value from an answer may be sent back and leaves the secret unchanged.
    secret: t.Optional(t.Union([t.String({ minLength: 1, maxLength: 200 }), t.Object({})])),
  },
  { additionalProperties: false },
)
const BackupPlanInput = t.Object(
  {
    cron: t.Union([t.String({ minLength: 9, maxLength: 100 }), t.Null()], {
      description: "Cron expression with five fields, in UTC. `null` disables automatic backups.",
    }),
    keep: t.Object({ daily: Count(1, 365), weekly: Count(0, 520) }, { additionalProperties: false }),
    target: t.Optional(t.Union([t.Literal("local"), t.Literal("s3")])),
    s3: t.Optional(BucketInput),
    source: t.Optional(t.Unknown()),
  },
  { additionalProperties: false, title: "BackupPlanInput" },
)
const Stored = t.Object({
  cron: t.Union([t.String(), t.Null()]),
  keep: t.Object({ daily: t.Integer(), weekly: t.Integer() }),
  target: t.Union([t.Literal("local"), t.Literal("s3")]),
  s3: t.Optional(
    t.Object({
      ...{ endpoint: t.String(), bucket: t.String(), prefix: t.String(), region: t.String(), key_id: t.String() },
      secret_id: t.Optional(t.Integer()),
    }),
  ),
})

const KEY = "backup_schedule"
const HOUR_MS = 3_600_000
const WINDOW_MS = 8 * 24 * HOUR_MS

interface Options {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Pick<Audit, "write">
  secrets: StoredSecrets
  outbound: Pick<Outbound, "enabled" | "check">
  /** Configured time such as `03:00`, or `off`. */
  time: string
  keep: KeepRules
  /** Source of the configured time, if the operator set one. */
  setBy: "env" | "file" | undefined
  /** Bucket configured by the operator. */
  bucket?: Omit<BucketPlace, "byOperator"> | undefined
}

export async function createBackupSchedule(options: Options): Promise<BackupSchedule> {
  const { catalog, clock, audit, secrets, setBy, bucket: ofOperator } = options
  const usual: BackupPlan = { cron: options.time === "off" ? null : cronOf(options.time), keep: options.keep, target: "local" }
  const read = async (statements: Statements): Promise<BackupPlan | undefined> => {
    const stored = await settingByKey(statements, KEY)
    return Value.Check(Stored, stored) ? stored : undefined
  }
  let chosen = await read(catalog)
  const current = (): BackupPlan => {
    const plan = chosen ?? { ...usual, ...(ofOperator && { target: "s3" as const }) }
    const { secret: _, ...place } = ofOperator ?? { secret: "" }
    const s3 = ofOperator ? (place as StoredBucket) : plan.s3 // without its secret
    return { ...plan, ...(setBy !== undefined && { cron: usual.cron }), target: s3 ? plan.target : "local", ...(s3 && { s3 }) }
  }

  /** Stores the bucket with its secret. A new secret replaces the old one. */
  async function keepBucket(statements: Statements, sent: SentBucket): Promise<StoredBucket> {
    const { secret, ...place } = sent
    const old = chosen?.s3?.secret_id
    if (secret === undefined) return { ...place, ...(old !== undefined && { secret_id: old }) }
    if (old !== undefined) {
      await secrets.replace(statements, old, secret)
      return { ...place, secret_id: old }
    }
    return { ...place, secret_id: await secrets.put(statements, { table: "settings", row: KEY, purpose: "bucket secret" }, secret) }
  }

  return {
    current,
    async reload(statements, keys) {
      if (keys.includes(KEY)) chosen = await read(statements)
    },
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
      const before = current()
      const { s3, ...wanted } = parsePlan(body, clock.now(), before)
      if (setBy !== undefined && wanted.cron !== before.cron) throw setElsewhere("backup_time", setBy)
      if (ofOperator && s3 && !isSame(s3, ofOperator)) throw setElsewhere("backup_s3_bucket", "env")
      if (s3 && !ofOperator) options.outbound.check(s3.endpoint)
      if (wanted.target === "s3" && !options.outbound.enabled)
        throw new AppError("outbound_disabled", "Outgoing requests are disabled on this instance.")
      return catalog.transaction(
        async (statements) => {
          const kept = s3 && !ofOperator ? await keepBucket(statements, s3) : chosen?.s3
          const plan: BackupPlan = { ...wanted, ...(kept && { s3: kept }) }
          const updated_by = actingUserId(actor)
          await putSetting(statements, { key: KEY, value: plan, updated_by, updated_at: clock.now() })
          await audit.write(statements, actor, {
            action: "admin.backup.schedule",
            target: { type: "instance", id: "backups", label: "" },
            changes: { schedule: [withoutIds(before), withoutIds(plan)] },
          })
          return plan
        },
        (plan) => {
          chosen = plan
        },
      )
    },
    async shown() {
      const { s3, ...plan } = current()
      if (!s3) return plan
      const { secret_id, ...place } = s3
      return { ...plan, s3: { ...place, secret: ofOperator ? { set: true } : await secrets.shown(secret_id ?? null) } }
    },
    async bucket() {
      const { target, s3 } = current()
      if (target !== "s3" || !s3) return undefined
      if (ofOperator) return { ...ofOperator, byOperator: true }
      const { secret_id, ...place } = s3
      const secret = secret_id === undefined ? undefined : await secrets.open(secret_id)
      if (secret === undefined) throw new AppError("unavailable", "The bucket's secret cannot be decrypted. Enter it again.")
      return { ...place, secret, byOperator: false }
    },
  }
}

const setElsewhere = (key: string, source: "env" | "file") =>
  new AppError("set_elsewhere", "The operator has set this value in the configuration, so it can't be changed here.", { key, source })
const isSame = (sent: SentBucket, place: Omit<BucketPlace, "byOperator">): boolean =>
  (["endpoint", "bucket", "prefix", "region", "key_id"] as const).every((name) => sent[name] === place[name])
const withoutIds = ({ s3, ...plan }: BackupPlan): object => ({ ...plan, ...(s3 && { s3: { ...s3, secret_id: undefined } }) })

const cronOf = (time: string): string => {
  const [hour, minute] = time.split(":")
  return `${Number(minute)} ${Number(hour)} * * *`
}

/** A bucket as sent. Without a secret the current one remains. */
type SentBucket = Omit<BucketPlace, "byOperator" | "secret"> & { secret: string | undefined }

function parsePlan(body: unknown, now: number, current: BackupPlan): Omit<BackupPlan, "s3"> & { s3: SentBucket | undefined } {
  const { fields, faults } = inspect(BackupPlanInput, body)
  const { cron, keep, target = current.target } = fields
  faults.push(...(typeof cron === "string" ? cronFaults(cron, now) : []))
  const s3 = fields.s3 && sentBucket(fields.s3, faults)
  if (target === "s3" && !s3 && !current.s3) faults.push(fault("/s3", "required", "is required for this target"))
  if (s3 && s3.secret === undefined && !current.s3) faults.push(fault("/s3/secret", "required", "is required"))
  refuseFaults(inDocumentOrder(faults, body))
  return { cron: cron!, keep: keep!, target, s3 } // without faults both are current
}

function cronFaults(cron: string, now: number): Fault[] {
  const next = nextRun(cron, "UTC", now)
  const after = next === undefined ? undefined : nextRun(cron, "UTC", next)
  if (next === undefined) return [fault("/cron", "invalid_cron", "must have five fields: minute, hour, day of month, month, day of week")]
  const isTooOften = after !== undefined && after - next < HOUR_MS
  return isTooOften ? [fault("/cron", "out_of_range", "must leave at least an hour between two backups")] : []
}

function sentBucket(
  { endpoint, prefix = "", region = "us-east-1", secret, ...rest }: Static<typeof BucketInput>,
  faults: Fault[],
): SentBucket {
  const url = URL.parse(endpoint ?? "")
  const isPlain = url && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "" && url.username === ""
  if (endpoint !== undefined && !isPlain) faults.push(fault("/s3/endpoint", "invalid_url", "must be a URL without a path"))
  const slashed = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`
  return { ...rest, endpoint: url?.origin ?? "", prefix: slashed, region, secret: typeof secret === "string" ? secret : undefined }
}
