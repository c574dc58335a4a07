import { statSync } from "node:fs"
import type { Catalog } from "../store/catalog/catalog.ts"
import { oldestDueJobAt } from "../store/catalog/due-jobs.ts"
import { pendingMigrations } from "../store/catalog/migrate.ts"
import { catalogSchemas } from "../store/catalog/schema.ts"
import { raw } from "../store/catalog/sql.ts"
import type { EventStore } from "../store/events/events.ts"
import type { Audit } from "./audit.ts"
import type { Backups } from "./backup.ts"
import { inBackupThread } from "./backup-thread.ts"
import type { Report } from "./control.ts"
import { placesIn } from "./data-folder.ts"
import { diskSpace, isLow } from "./disk.ts"
import type { Health } from "./health.ts"
import type { SmtpSettings } from "./mail.ts"
import type { PluginFacts } from "./plugins.ts"
import { askMailServer } from "./smtp-dialogue.ts"

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
  health: Health
  backupWorkerUrl: string
  baseUrl: string | undefined
  geoDb: string | undefined
  /** Whether the key comes from the configuration: then there is no file to look at. */
  keyIsConfigured: boolean
  audit: Pick<Audit, "verify">
  /** Where mails go out; undefined without a mail server. */
  smtp: SmtpSettings | undefined
  /** Whether anything may be called outside. */
  outbound: { readonly enabled: boolean }
  /** What the stores must have to be of this version. */
  plugins: readonly PluginFacts[]
  version: string
  /** Of the request that asks, when a browser does. */
  requestHost?: string | undefined
}

/** Looks at everything that can be wrong with an instance. A check that throws has failed. */
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
    const size = `${mib(Math.max(...bytes))} MiB`
    return Math.max(...bytes) > 128 << 20 ? warn(size, "A report or a backup holds the log back; it shrinks when that ends") : ok(size)
  },
  disk_free: ({ dataDir }) => {
    const space = diskSpace(dataDir)
    const found = `${mib(space.freeBytes)} of ${mib(space.totalBytes)} MiB are free`
    if (space.freeBytes < space.totalBytes / 50) return fail(found, "Make room, or move the data folder")
    return isLow(space) ? warn(found, "Make room, or move the data folder") : ok(found)
  },
  clock_skew: ({ health, now }) =>
    health.has("clock_jump") ? warn("the clock has jumped", "Keep it right by NTP") : ok(new Date(now()).toISOString()),
  base_url: ({ baseUrl, requestHost }) => {
    if (baseUrl === undefined) return warn("not set", "Set FOOTFALL_BASE_URL to the address under which pages reach the instance")
    if (requestHost === undefined || requestHost === new URL(baseUrl).host) return ok(baseUrl)
    return warn(`${baseUrl}, but this page was asked for at ${requestHost}`, "Set FOOTFALL_BASE_URL to the address that people use")
  },
  tls: ({ baseUrl }) =>
    baseUrl?.startsWith("http:") === true
      ? warn("the base address is not https", "Put a proxy with a certificate before the instance")
      : ok(baseUrl ?? "no base address"),
  proxy_headers: ({ health }) =>
    health.has("forwarded_headers_ignored")
      ? warn("forwarded headers come from a peer that is not trusted", "Add its range to FOOTFALL_TRUSTED_PROXIES")
      : ok("none from strangers"),
  secret_key: ({ dataDir, keyIsConfigured }) => {
    if (keyIsConfigured) return ok("from the configuration")
    const mode = statSync(placesIn(dataDir).key).mode & 0o777
    return process.platform === "win32" || (mode & 0o077) === 0
      ? ok(`mode 0${mode.toString(8)}`)
      : fail(`mode 0${mode.toString(8)}`, "chmod 0600 secret.key")
  },
  backup_age: async ({ backups, now }) => {
    const newest = (await backups.list()).filter(({ verified_at }) => verified_at !== null).at(-1)
    if (!newest) return warn("there is no backup yet", "footfall backup create")
    const days = (now() - Date.parse(newest.created_at)) / 86_400_000
    const found = `${newest.id}, ${days.toFixed(1)} days old`
    if (days > 7) return fail(found, "Look in the log why the daily backup fails; footfall backup create")
    return days > 2 ? warn(found, "footfall backup create") : ok(found)
  },
  backup_verified: async ({ backups }) => {
    const failed = (await backups.list()).filter(({ failed_at }) => failed_at !== null).map(({ id }) => id)
    return failed.length > 0
      ? fail(`failed: ${failed.join(", ")}`, "Look at the disk, make a new backup, delete the failed ones")
      : ok("none has failed")
  },
  audit_chain: async ({ audit }) => {
    const { ok: isWhole, rows, first_broken_id } = await audit.verify()
    return isWhole
      ? ok(`${rows} rows follow from one another`)
      : fail(`row ${first_broken_id} does not follow from the one before`, "Somebody has changed the audit log: compare it with a backup")
  },
  schema: async ({ catalog, plugins, version }) => {
    const pending = await pendingMigrations(catalog, catalogSchemas(plugins), version)
    return pending.length === 0
      ? ok(`version ${version}`)
      : fail(`not migrated: ${pending.map(({ name }) => name).join(", ")}`, "footfall migrate")
  },
  job_lag: async ({ catalog, now }) => {
    const oldest = await oldestDueJobAt(catalog, now())
    const minutes = oldest === undefined ? 0 : Math.floor((now() - oldest) / 60_000)
    const found = oldest === undefined ? "nothing is due" : `the oldest job has been due for ${minutes} minutes`
    return minutes > 15 ? warn(found, "Look at the running jobs; one of them may hang") : ok(found)
  },
  ingest_lag: ({ events, now }) => {
    const oldest = events.oldestUnsealedAt()
    const hours = oldest === undefined ? 0 : Math.floor((now() - oldest) / 3_600_000)
    const found = oldest === undefined ? "every event is in a columnar segment" : `the oldest unsealed event came ${hours} hours ago`
    return hours > 50 ? warn(found, "Look in the log why sealing fails") : ok(found)
  },
  smtp: async ({ smtp }) => {
    if (!smtp) return ok("no mail server is set; links are shown instead")
    const { ok: isTaken, steps } = await askMailServer(smtp)
    return isTaken
      ? ok(`${smtp.host} lets us in`)
      : warn(steps.at(-1)?.received ?? "no answer", "POST /api/private/admin/settings/smtp/test")
  },
  outbound: ({ outbound }) => ok(outbound.enabled ? "on, for what people switch on" : "off: nothing is called outside"),
  geo_database_age: ({ geoDb, now }) => {
    if (geoDb === undefined) return ok("none; the country comes from the browser's time zone")
    const days = Math.floor((now() - statSync(geoDb).mtimeMs) / 86_400_000)
    return days > 90 ? warn(`${days} days old`, "Fetch a newer file") : ok(`${days} days old`)
  },
  timezone_data: () =>
    ok(`${Intl.supportedValuesOf("timeZone").length} zones, ${process.versions.tz ?? process.versions.icu ?? "built in"}`),
  states: ({ health }) => {
    const codes = [...health.report().reasons, ...health.warnings()].map(({ code }) => code)
    return codes.length > 0 ? warn(codes.join(", "), "See the log") : ok("none")
  },
}

async function attempt(look: (options: DoctorOptions) => Finding | Promise<Finding>, options: DoctorOptions): Promise<Finding> {
  try {
    return await look(options)
  } catch (error) {
    return fail(
      error instanceof Error ? error.message : String(error),
      "Look at the disk; footfall backup list, footfall backup restore <id>",
    )
  }
}

const integrity = (lines: readonly string[]): Finding => {
  const faults = lines.filter((line) => line !== "ok")
  return faults.length === 0 ? ok("every page is well formed") : fail(faults[0]!, "footfall backup list, then footfall backup restore <id>")
}

const mib = (bytes: number): number => Math.round(bytes / 1_048_576)
