import { statSync } from "node:fs"
import { instantText, spanText } from "../../domain/moment.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { oldestDueJobAt } from "../../store/catalog/jobs.ts"
import { pendingMigrations } from "../../store/catalog/migrate.ts"
import { catalogSchemas } from "../../store/catalog/schema.ts"
import type { EventStore } from "../../store/events/events.ts"
import { type FaultKind, StoreFault } from "../../store/events/fault.ts"
import { raw } from "../../store/sql.ts"
import type { Audit } from "../audit/audit.ts"
import type { Backups } from "../backup/backup.ts"
import { inBackupThread } from "../backup/thread.ts"
import type { KeyRotation } from "../key-rotation/key-rotation.ts"
import type { Alarms } from "../mail/alarms.ts"
import type { SmtpSettings } from "../mail/mail.ts"
import { askMailServer } from "../mail/smtp-dialogue.ts"
import type { Report } from "../runtime/control.ts"
import { placesIn } from "../runtime/data-folder.ts"
import { diskSpace, isLow } from "../runtime/files.ts"
import type { Health, HealthCode } from "../runtime/health.ts"
import type { PluginFacts } from "../runtime/plugins.ts"

export interface Check {
  name: string
  status: "ok" | "warn" | "fail"
  /** What was found. */
  detail: string
  /** What to do; empty when all is well. */
  fix: string
}

export interface DoctorOptions {
  dataDir: string
  now(): number
  catalog: Catalog
  events: EventStore
  backups: Backups
  alarms: Pick<Alarms, "list">
  health: Health
  backupWorkerUrl: string
  baseUrl: string | undefined
  geoDb: string | undefined
  /** Whether the secret key is configured. Then there is no key file to check. */
  keyIsConfigured: boolean
  keyRotation: Pick<KeyRotation, "checkValues">
  audit: Pick<Audit, "verify">
  /** Mail server that sends emails. Undefined if none is configured. */
  smtp: SmtpSettings | undefined
  /** Whether outgoing requests are enabled. */
  outbound: { readonly enabled: boolean }
  /** Plugins whose migrations the stores must contain. */
  plugins: readonly PluginFacts[]
  version: string
  /** Host of the request, if a browser asks. */
  requestHost?: string | undefined
}

/** Runs all checks of an instance. A check that throws has failed. */
export async function examine(options: DoctorOptions, report: Report): Promise<Check[]> {
  const checks: Check[] = []
  const looks = Object.entries(LOOKS)
  for (const [name, look] of looks) {
    report({ what: `checking ${name}`, done: checks.length, total: looks.length })
    checks.push({ name, ...(await attempt(look, options)) })
  }
  return checks
}

type Finding = Omit<Check, "name">
const ok = (detail: string): Finding => ({ status: "ok", detail, fix: "" })
const warn = (detail: string, fix: string): Finding => ({ status: "warn", detail, fix })
const fail = (detail: string, fix: string): Finding => ({ status: "fail", detail, fix })

const LOOKS: Readonly<Record<string, (options: DoctorOptions) => Finding | Promise<Finding>>> = {
  catalog_write: async ({ catalog }) => {
    await catalog.transaction(async () => {})
    return ok("a transaction went through")
  },
  events_write: ({ events }) => {
    events.probe()
    return ok("a transaction went through")
  },
  catalog_integrity: async ({ catalog }) => {
    if (catalog.remote) return ok("on a server, which checks it itself")
    return integrity((await catalog.all<object>(raw("pragma quick_check(1)"))).map((row) => String(Object.values(row)[0])))
  },
  events_integrity: async ({ dataDir, backupWorkerUrl }) =>
    integrity((await inBackupThread<"examine">(backupWorkerUrl, { do: "examine", path: placesIn(dataDir).events, full: false })).faults),
  wal_size: ({ dataDir }) => {
    const bytes = ["catalog", "events"].map((store) => statSync(`${dataDir}/${store}.db-wal`, { throwIfNoEntry: false })?.size ?? 0)
    const size = `the larger one has ${mib(Math.max(...bytes))} MiB`
    return Math.max(...bytes) > 128 << 20 ? warn(size, "A report or a backup holds the log back; it shrinks when that ends") : ok(size)
  },
  disk_free: ({ dataDir }) => {
    const space = diskSpace(dataDir)
    const found = `${gb(space.freeBytes)} of ${gb(space.totalBytes)} GB are free`
    if (space.freeBytes < space.totalBytes / 50) return fail(found, "Make room, or move the data folder")
    return isLow(space) ? warn(found, "Make room, or move the data folder") : ok(found)
  },
  clock_skew: ({ health, now }) =>
    health.has("clock_jump")
      ? warn(`the clock has jumped ${health.causeOf("clock_jump") ?? ""}`.trim(), "Keep it right by NTP")
      : ok(`it has not jumped since the start, and says ${clockText(now())}`),
  base_url: ({ baseUrl, requestHost }) => {
    if (baseUrl === undefined) return warn("not set", "Set FOOTFALL_BASE_URL to the address under which pages reach the instance")
    if (requestHost === undefined || requestHost === new URL(baseUrl).host) return ok(baseUrl)
    return warn(`${baseUrl}, but this page was asked for at ${requestHost}`, "Set FOOTFALL_BASE_URL to the address that people use")
  },
  tls: ({ baseUrl }) =>
    baseUrl?.startsWith("http:") === true
      ? warn(
          `${baseUrl} is not https`,
          "Put a proxy with a certificate before the instance, and set FOOTFALL_BASE_URL to its https address",
        )
      : ok(baseUrl === undefined ? "cannot be told before the address of the instance is set" : `${baseUrl} is https`),
  proxy_headers: ({ health }) =>
    health.has("forwarded_headers_ignored")
      ? warn("forwarded headers come from a peer that is not trusted", "Add its range to FOOTFALL_TRUSTED_PROXIES")
      : ok("no forwarded header has come from a peer that is not trusted"),
  secret_key: ({ dataDir, keyIsConfigured }) => {
    if (keyIsConfigured) return ok("from the configuration")
    const mode = statSync(placesIn(dataDir).key).mode & 0o777
    return process.platform === "win32" || (mode & 0o077) === 0
      ? ok(`only the user that runs Footfall can read it (mode 0${mode.toString(8)})`)
      : fail(`others can read it (mode 0${mode.toString(8)})`, "chmod 0600 secret.key")
  },
  sealed_values: async ({ keyRotation }) => {
    const { all, unreadable } = await keyRotation.checkValues()
    if (unreadable.size === 0) return ok(`all ${all} open`)
    const kinds = [...unreadable].map(([holds, count]) => `${count} ${holds}`).join(", ")
    return fail(`neither the secret key nor one before it opens ${kinds}`, LOST_KEY)
  },
  backup_age: async ({ backups, alarms, now }) => {
    const failure = (await alarms.list()).find(({ kind }) => kind === "backup_failed")
    if (failure) return warn(`${failure.title}: ${failure.detail.step}: ${failure.detail.cause}`, failure.remedy)
    const newest = (await backups.list()).filter(({ verified_at }) => verified_at !== null).at(-1)
    if (!newest) return warn("there is no verified backup yet", MAKE_BACKUP)
    const age = now() - Date.parse(newest.created_at)
    const found = `the last verified one was made ${spanText(age)} ago (${newest.id})`
    if (age > 7 * DAY_MS) return fail(found, `Look in the log why the daily backup fails. ${MAKE_BACKUP}`)
    return age > 2 * DAY_MS ? warn(found, MAKE_BACKUP) : ok(found)
  },
  backup_verified: async ({ backups }) => {
    const failed = (await backups.list()).filter(({ failed_at }) => failed_at !== null)
    const damaged = await backups.listDamaged()
    const found = [...failed.map(({ id }) => `${id} failed its check`), ...damaged.map(({ id }) => `the manifest of ${id} is damaged`)]
    return found.length > 0
      ? fail(found.join("; "), "Check the disk, make a new backup, then delete the damaged ones")
      : ok("none has failed")
  },
  audit_chain: async ({ audit }) => {
    const { ok: isWhole, rows, first_broken_id } = await audit.verify()
    return isWhole
      ? ok(`${rows} rows follow from one another`)
      : fail(`the chain breaks at row ${first_broken_id}: rows were changed or removed`, "Compare the audit log with a backup")
  },
  schema: async ({ catalog, plugins, version }) => {
    const pending = await pendingMigrations(catalog, catalogSchemas(plugins), version)
    return pending.length === 0
      ? ok(`version ${version}`)
      : fail(`not migrated: ${pending.map(({ name }) => name).join(", ")}`, "footfall migrate")
  },
  job_lag: async ({ catalog, now }) => {
    const oldest = await oldestDueJobAt(catalog, now())
    const waited = oldest === undefined ? 0 : now() - oldest
    const found = oldest === undefined ? "nothing is due" : `the oldest job has been due for ${spanText(waited)}`
    return waited > 15 * 60_000 ? warn(found, "Look at the running jobs; one of them may hang") : ok(found)
  },
  ingest_lag: ({ events, now }) => {
    const oldest = events.oldestUnsealedAt()
    const waited = oldest === undefined ? 0 : now() - oldest
    const found = oldest === undefined ? "every event is in a columnar segment" : `the oldest unsealed event came ${spanText(waited)} ago`
    return waited > 50 * 3_600_000 ? warn(found, "Look in the log why sealing fails") : ok(found)
  },
  smtp: async ({ smtp }) => {
    if (!smtp) return ok("no mail server is set; links are shown instead")
    const { ok: isTaken, steps } = await askMailServer(smtp)
    return isTaken
      ? ok(`${smtp.host} lets us in`)
      : warn(
          steps.at(-1)?.received ?? "no answer",
          "Put host, user and password right in the settings of mail; the test there shows where it stops",
        )
  },
  outbound: ({ outbound }) => ok(outbound.enabled ? "on, for what people switch on" : "off: nothing is called outside"),
  geo_database_age: ({ geoDb, now }) => {
    if (geoDb === undefined) return ok("no file is set; the country comes from the browser's time zone")
    const age = now() - statSync(geoDb).mtimeMs
    const found = `the file is ${spanText(age)} old`
    return age > 90 * DAY_MS ? warn(found, "Fetch a newer file") : ok(found)
  },
  timezone_data: () =>
    ok(`${Intl.supportedValuesOf("timeZone").length} zones, release ${process.versions.tz ?? process.versions.icu ?? "built in"}`),
  states: ({ health }) => {
    const codes = [...health.report().reasons, ...health.warnings()].map(({ code }) => code)
    return codes.length > 0 ? warn(codes.join(", "), codes.map((code) => REMEDIES[code]).join(" ")) : ok("nothing is wrong right now")
  },
}

const DAY_MS = 86_400_000
const MAKE_BACKUP = "Make one on the page Backups, or by footfall backup create"

const LOST_KEY =
  "Start with the key that sealed them: FOOTFALL_SECRET_KEY, or secret.key in the data folder; the one before as FOOTFALL_SECRET_KEY_PREVIOUS. Where it is lost, enter the secrets anew, give authenticator apps up by footfall user reset-mfa, and make shared views anew"

/** Remedies for the states of an instance. */
export const REMEDIES: Readonly<Record<HealthCode, string>> = {
  stopping: "It stops; start it again.",
  storage_full: "Make room on the disk: it goes on by itself.",
  storage_locked:
    "Find that process by fuser on catalog.db and events.db in the data folder (often a second Footfall, sqlite3, or a program that copies files) and end it: writing goes on by itself.",
  storage_damaged: "footfall backup list, then footfall backup restore <id>.",
  queue_full: "More events come than are stored: look for who sends them, or lower FOOTFALL_LIMIT_INSTANCE_EVENTS.",
  storage_low: "Make room, or move the data folder.",
  backup_stale: "footfall backup create; the log says why none was made by itself.",
  clock_jump: "Keep the clock right by NTP.",
  forwarded_headers_ignored: "Add the proxy's range to FOOTFALL_TRUSTED_PROXIES.",
}

/** Remedies for a check that itself meets a fault of a store. */
const FAULT_REMEDIES: Readonly<Record<FaultKind, string>> = {
  full: REMEDIES.storage_full,
  locked: REMEDIES.storage_locked,
  damaged: REMEDIES.storage_damaged,
  fsync: "Look at the disk, then start Footfall again.",
  io: "Look at the disk, and whether the user that runs Footfall may write in the data folder.",
  unreachable: "Start the catalog server, and see that it can be reached from here; it is tried again by itself.",
}

async function attempt(look: (options: DoctorOptions) => Finding | Promise<Finding>, options: DoctorOptions): Promise<Finding> {
  try {
    return await look(options)
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return fail(detail, error instanceof StoreFault ? FAULT_REMEDIES[error.kind] : "Look in the log for what fails, and at the disk")
  }
}

const integrity = (lines: readonly string[]): Finding => {
  const faults = lines.filter((line) => line !== "ok")
  return faults.length === 0 ? ok("every page is well formed") : fail(faults[0]!, "footfall backup list, then footfall backup restore <id>")
}

const mib = (bytes: number): number => Math.round(bytes / 1_048_576)
const gb = (bytes: number): string => (bytes / 1e9).toFixed(1)

/** `2026-11-21 12:00:00 UTC` */
const clockText = (at: number): string => instantText(at).replace("T", " ").replace("Z", " UTC")
