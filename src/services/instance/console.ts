/**
 * The services of the admin console: users, state, storage, and no visitor data beyond counts and sizes. One object of services,
 * created with the instance, for the plugin `admin` and the command line.
 */

import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { API } from "../../domain/limits.ts"
import { LOG_LEVELS } from "../../domain/log.ts"
import { parseInstant } from "../../domain/moment.ts"
import type { ProviderTest } from "../../domain/provider-input.ts"
import type { IngestCounts } from "../../ingest/commit/outcomes.ts"
import type { SlowQueries } from "../../query/engine/slow-queries.ts"
import { ArgumentReader, refuseArguments } from "../../query/parse/arguments.ts"
import { type ConsoleUsers, createConsoleUsers } from "../accounts/admin-users.ts"
import { createImpersonation, type Impersonation } from "../accounts/impersonation.ts"
import { createEndings } from "../accounts/user-access.ts"
import { type ConsoleBackups, createConsoleBackups } from "../backup/admin-backups.ts"
import type { OnlineRestore } from "../backup/restore.ts"
import type { BackupSchedule } from "../backup/schedule.ts"
import type { DataHooks } from "../erasure/data-hooks.ts"
import { type ConsoleRetention, createRetention, RETENTION_JOB } from "../erasure/retention.ts"
import { type ConsoleJobs, createConsoleJobs } from "../jobs/admin-jobs.ts"
import { beginsJobs } from "../jobs/jobs.ts"
import type { Alarms } from "../mail/alarms.ts"
import type { SmtpSettings } from "../mail/mail.ts"
import { type SmtpDialogue, testMail } from "../mail/smtp-dialogue.ts"
import { testProvider } from "../oidc/providers.ts"
import { type ConsoleMembers, createConsoleMembers } from "../organizations/members.ts"
import type { Memberships } from "../organizations/memberships.ts"
import type { Report } from "../runtime/control.ts"
import type { HealthCode } from "../runtime/health.ts"
import type { LogLine, LogLines } from "../runtime/log.ts"
import type { PluginFacts } from "../runtime/plugins.ts"
import type { Task } from "../runtime/tasks.ts"
import type { Random } from "../secrets/secrets.ts"
import { type ConsoleSettings, createConsoleSettings } from "../settings/admin-settings.ts"
import type { BesideSettings } from "../settings/settings.ts"
import type { HostClaims } from "../sites/host-claims.ts"
import type { Stats } from "../stats/stats.ts"
import { type ConsoleAreas, createAreas } from "./admin-areas.ts"
import { type ConsoleAudit, type ConsoleLists, createConsoleAudit, createLists } from "./admin-lists.ts"
import { createSystem, diagnosticsZip, type SystemReport } from "./diagnostics.ts"
import { type Check, REMEDIES } from "./doctor.ts"
import { type ConsoleIngestion, createIngestion } from "./ingestion.ts"
import type { Instance } from "./instance.ts"
import type { MaintenanceMode } from "./maintenance.ts"
import { type ConsoleStorage, createStorage } from "./storage.ts"
import { ANALYZE_JOB, createStoreWork, type StoreWork, VACUUM_JOB } from "./store-work.ts"
import { createUpdates, type Updates } from "./updates.ts"

export interface Console extends Pick<Memberships, "invitations">, ReturnType<typeof createEndings> {
  members: ConsoleMembers
  users: ConsoleUsers
  lists: ConsoleLists
  audit: ConsoleAudit
  settings: ConsoleSettings
  areas: ConsoleAreas
  maintenance: MaintenanceMode
  impersonation: Impersonation
  /** Cookies of the session that an admin returns to after impersonating a user. */
  cookies: ImpersonationCookies
  ingestion: ConsoleIngestion
  hostDisputes: Pick<HostClaims, "list" | "get" | "decide" | "withdraw">
  storage: ConsoleStorage
  storeWork: Pick<StoreWork, "vacuum" | "analyze">
  retention: Omit<ConsoleRetention, "perform">
  jobs: ConsoleJobs
  backups: Omit<ConsoleBackups, "define">
  backupSchedule: BackupSchedule
  slowQueries: Pick<SlowQueries, "list">
  /** Lists log lines. The parameters are `level`, `since`, `q`, `limit`. Throws `invalid_query`. */
  logLines(query: Record<string, unknown>): LogLine[]
  system(): Promise<SystemReport>
  /** Runs the same checks as `footfall doctor`. `host` is the host of the request. */
  health(host: string | undefined): Promise<Check[]>
  /** Returns the current problems with their remedies. Costs nothing. */
  states(): { code: HealthCode; since: string; remedy: string }[]
  /** Returns a zip archive for support, after writing an audit entry. */
  diagnostics(actor: Actor): Promise<Uint8Array>
  /** Tests a provider. The body is `{provider}`. Throws `validation_failed`, `provider_not_found`. */
  oidcTest(body: unknown): Promise<ProviderTest>
  /** Sends a test email. The body is `{to}`. Throws `validation_failed`, and `mail_unavailable` without a mail server. */
  mailTest(body: unknown): Promise<SmtpDialogue>
  updates: Omit<Updates, "task">
  /** Alarms about problems. */
  alarms: Alarms
  tasks: Task[]
}

/** Values of `Set-Cookie` headers. */
export interface ImpersonationCookies {
  /** Starts impersonation: the browser acts as the user and stores its own session. `seconds` is the lifetime. */
  begin(request: Request, own: { renewedToken?: string }, as: { token: string; seconds: number }): string[]
  /** Returns the token of the stored session. */
  waiting(request: Request): string | undefined
  /** Ends impersonation and returns to the stored session. Without one the user is signed out. */
  end(own: { token: string; seconds: number } | undefined): string[]
}

export interface ConsoleOptions {
  instance: Instance
  memberships: Memberships
  hostClaims: HostClaims
  stats: Pick<Stats, "summary">
  dataDir: string
  version: string
  commit: string | undefined
  baseUrl: string | undefined
  updatesUrl: string | undefined
  clock: Clock
  described: Parameters<typeof createConsoleSettings>[0]["described"]
  smtp: SmtpSettings | undefined
  counts: IngestCounts
  queueDepth(): number
  slowQueries: Pick<SlowQueries, "list">
  logLines: Pick<LogLines, "list">
  cookies: ImpersonationCookies
  backupWorkerUrl: string
  publicUrl(): string
  examine(report: Report, host: string | undefined): Promise<Check[]>
  /** Data hooks of the plugins, which are set up later. */
  hooks: DataHooks
  pluginFacts: readonly PluginFacts[]
  onlineRestore: OnlineRestore
  random: Random
}

export function createConsole(options: ConsoleOptions): Console {
  const { instance, memberships, clock, smtp } = options
  const shared = { ...options, ...instance, ...instance.accounts, ...memberships, clock, beginJob: beginsJobs(instance) }
  const storage = createStorage(shared)
  const ingestion = createIngestion(shared)
  const system = createSystem(shared)
  const settings = createConsoleSettings(shared)
  const changeSettings = (actor: Actor, changes: object, beside: BesideSettings) => settings.change(actor, { changes }, { beside })
  const retention = createRetention({ ...shared, changeSettings, segments: storage.segments })
  const storeWork = createStoreWork(shared)
  const updates = createUpdates(shared)
  const backups = createConsoleBackups({ ...shared, settings })
  backups.define()
  instance.jobs.define(RETENTION_JOB, { interrupted: "resume", attempts: 3, run: retention.perform })
  instance.jobs.define(VACUUM_JOB, { interrupted: "fail", onDisk: true, run: storeWork.performVacuum })
  instance.jobs.define(ANALYZE_JOB, { interrupted: "fail", onDisk: true, run: storeWork.performAnalyze })
  return {
    members: createConsoleMembers(shared),
    invitations: memberships.invitations,
    ...createEndings(shared),
    audit: createConsoleAudit(shared),
    areas: createAreas(shared),
    users: createConsoleUsers(shared),
    lists: createLists({ ...shared, directory: instance.sites.directory, segments: storage.segments }),
    settings,
    retention,
    storeWork,
    jobs: createConsoleJobs(shared),
    backups,
    backupSchedule: instance.schedule,
    maintenance: instance.maintenance,
    impersonation: createImpersonation(shared),
    cookies: options.cookies,
    ingestion,
    hostDisputes: options.hostClaims,
    storage,
    slowQueries: options.slowQueries,
    logLines: (query) => readLines(options.logLines, query),
    system: system.report,
    health: (host) => options.examine(() => {}, host),
    states: () =>
      [...instance.health.report().reasons, ...instance.health.warnings()].map((state) => ({ ...state, remedy: REMEDIES[state.code] })),
    async diagnostics(actor) {
      await instance.audit.writeAlone(actor, {
        action: "admin.diagnostics.download",
        target: { type: "instance", id: "diagnostics", label: "" },
      })
      const health = () => options.examine(() => {}, undefined)
      return diagnosticsZip({ ...shared, system: system.report, health, settings: settings.list })
    },
    oidcTest: (body) => testProvider(shared, body),
    mailTest: (body) => testMail(smtp, body),
    updates,
    alarms: instance.alarms,
    tasks: [ingestion.task, storage.task, updates.task],
  }
}

const LINES = { min: 1, max: 10_000 }
const DEFAULT_LINES = 200

/** Reads log lines as a query string requests them: `level`, `since`, `q`, `limit`. Throws `invalid_query`. */
export function readLines(lines: Pick<LogLines, "list">, query: Record<string, unknown>): LogLine[] {
  const reader = new ArgumentReader(query, ["level", "since", "q", "limit"])
  const level = reader.choice("level", LOG_LEVELS)
  const q = reader.text("q", { min: 0, max: API.searchChars })
  const limit = reader.integer("limit", LINES) ?? DEFAULT_LINES
  const text = reader.text("since", { min: 20, max: 40 })
  const since = text === undefined ? undefined : parseInstant(text)
  if (text !== undefined && since === undefined)
    reader.refuse({ pointer: "/since", code: "invalid_date", detail: "since must be a time in RFC 3339." })
  refuseArguments(reader, "text")
  return lines.list({ level, since, q }, limit)
}
