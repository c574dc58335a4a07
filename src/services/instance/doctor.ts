import { statSync } from "node:fs"
import { instantText, spanText } from "../../domain/moment.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { oldestDueJobAt } from "../../store/catalog/jobs.ts"
import { catalogSchemas, pendingMigrations } from "../../store/catalog/schema.ts"
import { toStoreFault } from "../../store/clickhouse/client.ts"
import { probeClickhouse, serverTime } from "../../store/clickhouse/probe.ts"
import type { EventStore } from "../../store/events/events.ts"
import { type FaultKind, StoreFault } from "../../store/events/fault.ts"
import { raw } from "../../store/sql.ts"
import type { Audit } from "../audit/audit.ts"
import type { Backups } from "../backup/backup.ts"
import type { ClickhouseBackups } from "../backup/clickhouse-backups.ts"
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
import type { ShippedEvents } from "../shipping/clickhouse.ts"
import { CLUSTER_CHECKS } from "./cluster-checks.ts"
import { type Finding, fail, ok, warn } from "./findings.ts"

export interface Check extends Finding {
  name: string
}

export interface DoctorOptions {
  dataDir: string
  now(): number
  catalog: Catalog
  events: EventStore
  backups: Backups
  /** Undefined when the events are in the data folder. */
  clickhouseBackups: ClickhouseBackups | undefined
  alarms: Pick<Alarms, "list">
  health: Health
  /** Undefined when the events are in the data folder. */
  shipped: Pick<ShippedEvents, "clickhouse" | "shipping"> | undefined
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
  const { shipped } = options
  const ofCluster = shipped ? Object.entries(CLUSTER_CHECKS) : []
  const all: (readonly [name: string, check: () => Finding | Promise<Finding>])[] = [
    ...Object.entries(CHECKS).map(([name, check]) => [name, () => check(options)] as const),
    ...ofCluster.map(([name, check]) => [name, () => check({ ...options, clickhouse: shipped!.clickhouse })] as const), // empty otherwise
  ]
  for (const [name, check] of all) {
    report({ what: `checking ${name}`, done: checks.length, total: all.length })
    checks.push({ name, ...(await attempt(check)) })
  }
  return checks
}

const CHECKS: Readonly<Record<string, (options: DoctorOptions) => Finding | Promise<Finding>>> = {
  catalog_write: async ({ catalog }) => {
    await catalog.transaction(async () => {})
    return ok("A test transaction succeeded.")
  },
  events_write: ({ events }) => {
    events.probe()
    return ok("A test transaction succeeded.")
  },
  catalog_integrity: async ({ catalog }) => {
    if (catalog.remote) return ok("The catalog is on a server, which is responsible for its integrity.")
    return integrity((await catalog.all<object>(raw("pragma quick_check(1)"))).map((row) => String(Object.values(row)[0])))
  },
  events_integrity: async ({ dataDir, backupWorkerUrl }) =>
    integrity((await inBackupThread<"examine">(backupWorkerUrl, { do: "examine", path: placesIn(dataDir).events, full: false })).faults),
  wal_size: ({ dataDir }) => {
    const bytes = ["catalog", "events"].map((store) => statSync(`${dataDir}/${store}.db-wal`, { throwIfNoEntry: false })?.size ?? 0)
    const size = `The larger write-ahead log has ${mib(Math.max(...bytes))} MiB.`
    return Math.max(...bytes) > 128 << 20
      ? warn(size, "A long report or backup keeps the log from shrinking. Wait until it has finished.")
      : ok(size)
  },
  clickhouse: async ({ shipped, events, now }) => {
    if (!shipped) return ok("The events are in the data folder.")
    const { clickhouse, shipping } = shipped
    const differing = await probeClickhouse(clickhouse)
    if (differing.length > 0) return fail(`ClickHouse answers differently: ${differing.join(", ")}.`, "Use another version of ClickHouse.")
    const skew = Math.abs((await serverTime(clickhouse)) - now())
    if (skew > MAX_SKEW_MS) return warn(`The clocks of ClickHouse and this machine differ by ${spanText(skew)}.`, REMEDIES.clock_jump)
    const { bytes } = events.unshipped()
    const found = `ClickHouse answers, and ${mib(bytes)} MiB of events are not confirmed.`
    return shipping.state === "shipping" ? ok(found) : warn(found, REMEDIES.spooling)
  },
  disk_free: ({ dataDir }) => {
    const space = diskSpace(dataDir)
    const found = `${gb(space.freeBytes)} of ${gb(space.totalBytes)} GB are free.`
    if (space.freeBytes < space.totalBytes / 50) return fail(found, REMEDIES.storage_low)
    return isLow(space) ? warn(found, REMEDIES.storage_low) : ok(found)
  },
  clock_skew: ({ health, now }) =>
    health.has("clock_jump")
      ? warn(`The clock jumped ${health.causeOf("clock_jump") ?? ""}`.trim().concat("."), REMEDIES.clock_jump)
      : ok(`The clock has not jumped since the start and shows ${clockText(now())}.`),
  base_url: ({ baseUrl, requestHost }) => {
    if (baseUrl === undefined) return warn("The base URL is not set.", "Set FOOTFALL_BASE_URL to the public URL of the instance.")
    if (requestHost === undefined || requestHost === new URL(baseUrl).host) return ok(baseUrl)
    return warn(
      `The base URL is ${baseUrl}, but this page was opened at ${requestHost}.`,
      "Set FOOTFALL_BASE_URL to the URL that people use.",
    )
  },
  tls: ({ baseUrl }) =>
    baseUrl?.startsWith("http:") === true
      ? warn(
          `${baseUrl} does not use HTTPS.`,
          "Run the instance behind a proxy with a TLS certificate, and set FOOTFALL_BASE_URL to its https URL.",
        )
      : ok(baseUrl === undefined ? "Unknown until the base URL is set." : `${baseUrl} uses HTTPS.`),
  proxy_headers: ({ health }) =>
    health.has("forwarded_headers_ignored")
      ? warn("A proxy that is not trusted sends forwarded headers, which are ignored.", REMEDIES.forwarded_headers_ignored)
      : ok("No forwarded headers were ignored."),
  secret_key: ({ dataDir, keyIsConfigured }) => {
    if (keyIsConfigured) return ok("The key is set in the configuration.")
    const mode = statSync(placesIn(dataDir).key).mode & 0o777
    return process.platform === "win32" || (mode & 0o077) === 0
      ? ok(`Only the user that runs Footfall can read the key file (mode 0${mode.toString(8)}).`)
      : fail(`Other users can read the key file (mode 0${mode.toString(8)}).`, "Run chmod 0600 secret.key in the data folder.")
  },
  sealed_values: async ({ keyRotation }) => {
    const { all, unreadable } = await keyRotation.checkValues()
    if (unreadable.size === 0) return ok(`All ${all} can be decrypted.`)
    const kinds = [...unreadable].map(([holds, count]) => `${count} ${holds}`).join(", ")
    return fail(`Neither the secret key nor a previous key decrypts ${kinds}.`, LOST_KEY)
  },
  backup_age: async ({ backups, clickhouseBackups, alarms, now }) => {
    if (clickhouseBackups?.isOn === false) return ok("The servers of the catalog and of the events are responsible for their backups.")
    const failure = (await alarms.list()).find(({ kind }) => kind === "backup_failed")
    if (failure) return warn(`${failure.title}: ${failure.detail.step}: ${failure.detail.cause}`, failure.remedy)
    const fix = clickhouseBackups ? "The log says why the daily backup fails." : CREATE_BACKUP
    const newest = clickhouseBackups
      ? await clickhouseBackups.last()
      : (await backups.list()).filter(({ verified_at }) => verified_at !== null).at(-1)
    if (!newest) return warn("There is no verified backup yet.", fix)
    const age = now() - Date.parse(newest.created_at)
    const found = `The last verified backup was created ${spanText(age)} ago (${"id" in newest ? newest.id : newest.name}).`
    if (age > 7 * DAY_MS) return fail(found, clickhouseBackups ? fix : `The log says why the daily backup fails. ${fix}`)
    return age > 2 * DAY_MS ? warn(found, fix) : ok(found)
  },
  backup_verified: async ({ backups }) => {
    const failed = (await backups.list()).filter(({ failed_at }) => failed_at !== null)
    const damaged = await backups.listDamaged()
    const found = [...failed.map(({ id }) => `${id} failed verification.`), ...damaged.map(({ id }) => `The manifest of ${id} is damaged.`)]
    return found.length > 0
      ? fail(found.join(" "), "Check the disk, create a new backup, then delete the damaged ones.")
      : ok("No backup failed verification.")
  },
  audit_chain: async ({ audit }) => {
    const { ok: isIntact, rows, first_broken_id } = await audit.verify()
    return isIntact
      ? ok(`The hash chain of ${rows} rows is intact.`)
      : fail(`The hash chain breaks at row ${first_broken_id}: rows were changed or removed.`, "Compare the audit log with a backup.")
  },
  schema: async ({ catalog, plugins, version }) => {
    const pending = await pendingMigrations(catalog, catalogSchemas(plugins), version)
    return pending.length === 0
      ? ok(`The schema is that of version ${version}.`)
      : fail(`Pending migrations: ${pending.map(({ name }) => name).join(", ")}.`, "Run footfall migrate up.")
  },
  job_lag: async ({ catalog, now }) => {
    const oldest = await oldestDueJobAt(catalog, now())
    const waited = oldest === undefined ? 0 : now() - oldest
    const found = oldest === undefined ? "No jobs are due." : `The oldest due job has waited for ${spanText(waited)}.`
    return waited > 15 * 60_000 ? warn(found, "Check the running jobs. One of them may be stuck.") : ok(found)
  },
  ingest_lag: ({ events, now }) => {
    const oldest = events.oldestUnsealedAt()
    const waited = oldest === undefined ? 0 : now() - oldest
    const found = oldest === undefined ? "All events are sealed." : `The oldest unsealed event arrived ${spanText(waited)} ago.`
    return waited > 50 * 3_600_000 ? warn(found, "The log says why sealing fails.") : ok(found)
  },
  smtp: async ({ smtp }) => {
    if (!smtp) return ok("No mail server is configured. Links are shown instead of sent.")
    const { ok: isAccepted, steps } = await askMailServer(smtp)
    return isAccepted
      ? ok(`${smtp.host} accepts the login.`)
      : warn(
          steps.at(-1)?.received ?? "The mail server did not answer.",
          "Correct host, user and password in the mail settings. The test there shows the step that fails.",
        )
  },
  outbound: ({ outbound }) => ok(outbound.enabled ? "Outgoing requests are enabled." : "Outgoing requests are disabled."),
  geo_database_age: ({ geoDb, now }) => {
    if (geoDb === undefined) return ok("No geolocation database is configured. Countries are derived from browser time zones.")
    const age = now() - statSync(geoDb).mtimeMs
    const found = `The database is ${spanText(age)} old.`
    return age > 90 * DAY_MS ? warn(found, "Download a newer database.") : ok(found)
  },
  timezone_data: () =>
    ok(`${Intl.supportedValuesOf("timeZone").length} time zones, release ${process.versions.tz ?? process.versions.icu ?? "built in"}.`),
  states: ({ health }) => {
    const codes = [...health.report().reasons, ...health.warnings()].map(({ code }) => code)
    return codes.length > 0 ? warn(codes.join(", "), codes.map((code) => REMEDIES[code]).join(" ")) : ok("There are no current problems.")
  },
}

const DAY_MS = 86_400_000
const MAX_SKEW_MS = 5_000
const CREATE_BACKUP = "Create one on the Backups page or with footfall backup create."

const LOST_KEY =
  "Start with the key that encrypted them: FOOTFALL_SECRET_KEY, or secret.key in the data folder. Set an earlier key as FOOTFALL_SECRET_KEY_PREVIOUS. If the key is lost, enter the secrets again, remove authenticator apps with footfall user reset-mfa, and recreate shared views."

/** Remedies for the states of an instance. */
export const REMEDIES: Readonly<Record<HealthCode, string>> = {
  stopping: "The instance is stopping. Start it again.",
  storage_full: "Free disk space. Events are then accepted again without a restart.",
  storage_locked:
    "Find the process with fuser on catalog.db and events.db in the data folder (often a second Footfall, sqlite3, or a program that copies files) and end it. Events are then accepted again without a restart.",
  storage_damaged: "Run footfall backup list, then footfall backup restore <id>.",
  queue_full: "Events arrive faster than they can be stored. Find their source, or lower FOOTFALL_LIMIT_INSTANCE_EVENTS.",
  spool_full:
    "Start ClickHouse, or raise FOOTFALL_SPOOL_BYTES. What it has not confirmed is on the disk of this node, and nothing more is accepted.",
  storage_low: "Free disk space, or move the data folder.",
  backup_stale: "Run footfall backup create. The log says why there was no automatic backup.",
  clock_jump: "Synchronize the clock with NTP.",
  spooling: "Start ClickHouse. Events are accepted meanwhile, and are only on the disk of this node until ClickHouse answers.",
  forwarded_headers_ignored: "Add the proxy's range to FOOTFALL_TRUSTED_PROXIES.",
}

/** Remedies for checks that fail with a fault of a store. */
const FAULT_REMEDIES: Readonly<Record<FaultKind, string>> = {
  full: REMEDIES.storage_full,
  locked: REMEDIES.storage_locked,
  damaged: REMEDIES.storage_damaged,
  fsync: "Check the disk, then start Footfall again.",
  io: "Check the disk, and that the user that runs Footfall can write to the data folder.",
  unreachable:
    "Start the server of the catalog or of the events, and check that it can be reached from this machine. Footfall reconnects automatically.",
}

async function attempt(check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (caught) {
    const error = toStoreFault(caught)
    const detail = error instanceof Error ? error.message : String(error)
    return fail(detail, error instanceof StoreFault ? FAULT_REMEDIES[error.kind] : "Check the log and the disk.")
  }
}

const integrity = (lines: readonly string[]): Finding => {
  const faults = lines.filter((line) => line !== "ok")
  return faults.length === 0 ? ok("No damage was found.") : fail(faults[0]!, REMEDIES.storage_damaged)
}

const mib = (bytes: number): number => Math.round(bytes / 1_048_576)
const gb = (bytes: number): string => (bytes / 1e9).toFixed(1)

/** Returns a time such as `2026-11-21 12:00:00 UTC`. */
const clockText = (at: number): string => instantText(at).replace("T", " ").replace("Z", " UTC")
