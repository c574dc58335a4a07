/**
 * What whoever runs the instance sees and does: its people, its state, its storage, and no visitor's data beyond counts and
 * sizes. One object of services, made when the instance is, for the plugin `admin` and the command line.
 */
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import type { IngestCounts } from "../../ingest/ingest-counts.ts"
import type { SlowQuestions } from "../../query/slow-questions.ts"
import type { Alarms } from "../alarms.ts"
import type { BackupSchedule } from "../backup-schedule.ts"
import type { Report } from "../control.ts"
import type { DataHooks } from "../data-hooks.ts"
import { type Check, REMEDIES } from "../doctor.ts"
import type { HealthCode } from "../health.ts"
import type { Instance } from "../instance.ts"
import type { BesideSettings } from "../instance-settings.ts"
import type { LogLine, LogLines } from "../log-lines.ts"
import type { SmtpSettings } from "../mail.ts"
import type { MaintenanceMode } from "../maintenance.ts"
import type { Memberships } from "../memberships.ts"
import type { OnlineRestore } from "../online-restore.ts"
import type { PluginFacts } from "../plugins.ts"
import type { Random } from "../secrets.ts"
import type { SmtpDialogue } from "../smtp-dialogue.ts"
import type { Stats } from "../stats.ts"
import type { Task } from "../timers.ts"
import { type ConsoleAreas, createAreas } from "./areas.ts"
import { type ConsoleAudit, createConsoleAudit } from "./audit.ts"
import { type ConsoleBackups, createConsoleBackups } from "./backups.ts"
import { beginsJobs } from "./begin-job.ts"
import { createEndings } from "./endings.ts"
import { createImpersonation, type Impersonation } from "./impersonation.ts"
import { type ConsoleIngestion, createIngestion } from "./ingestion.ts"
import { type ConsoleJobs, createConsoleJobs } from "./jobs.ts"
import { type ConsoleLists, createLists } from "./lists.ts"
import { testMail } from "./mail-test.ts"
import { type ConsoleMembers, createConsoleMembers } from "./members.ts"
import { type OidcTest, testProvider } from "./oidc-test.ts"
import { readLines } from "./read-lines.ts"
import { type ConsoleRetention, createRetention, RETENTION_JOB } from "./retention.ts"
import { type ConsoleSettings, createConsoleSettings } from "./settings.ts"
import { type ConsoleStorage, createStorage } from "./storage.ts"
import { ANALYZE_JOB, createStoreWork, type StoreWork, VACUUM_JOB } from "./store-work.ts"
import { createSystem, type SystemReport } from "./system.ts"
import { createUpdates, type Updates } from "./updates.ts"
import { type ConsoleUsers, createConsoleUsers } from "./users.ts"

export interface Console extends Pick<Memberships, "invitations">, ReturnType<typeof createEndings> {
  members: ConsoleMembers
  users: ConsoleUsers
  lists: ConsoleLists
  audit: ConsoleAudit
  settings: ConsoleSettings
  areas: ConsoleAreas
  maintenance: MaintenanceMode
  impersonation: Impersonation
  /** Where the session waits with which an admin who acts as a user was signed in. */
  cookies: ImpersonationCookies
  ingestion: ConsoleIngestion
  storage: ConsoleStorage
  storeWork: Pick<StoreWork, "vacuum" | "analyze">
  retention: Omit<ConsoleRetention, "perform">
  jobs: ConsoleJobs
  backups: Omit<ConsoleBackups, "define">
  backupSchedule: BackupSchedule
  slowQuestions: Pick<SlowQuestions, "list">
  /** `level`, `since`, `q`, `limit`. Throws `invalid_query`. */
  logLines(query: Record<string, unknown>): LogLine[]
  system(): Promise<SystemReport>
  /** The same checks as `footfall doctor`; `host` is that of the request that asks. */
  health(host: string | undefined): Promise<Check[]>
  /** What is not as it should be right now, and what to do about it; costs nothing. */
  states(): { code: HealthCode; since: string; remedy: string }[]
  /** A zip archive to send to whoever helps; that somebody takes it along is in the log first. */
  diagnostics(actor: Actor): Promise<Uint8Array>
  /** `{provider}`. Throws `validation_failed`, `provider_not_found`. */
  oidcTest(body: unknown): Promise<OidcTest>
  /** `{to}`. Throws `validation_failed`, and `mail_unavailable` without a mail server. */
  mailTest(body: unknown): Promise<SmtpDialogue>
  updates: Omit<Updates, "task">
  /** Notices of what went wrong. */
  alarms: Alarms
  tasks: Task[]
}

/** Lines of a `Set-Cookie` head. */
export interface ImpersonationCookies {
  /** From now on the browser acts as the user; its own session waits beside. Seconds. */
  begin(request: Request, own: { renewedToken?: string }, as: { token: string; seconds: number }): string[]
  /** The token of the session that waits. */
  waiting(request: Request): string | undefined
  /** Back to the own session; without one nobody is signed in. */
  end(own: { token: string; seconds: number } | undefined): string[]
}

export interface ConsoleOptions {
  instance: Instance
  memberships: Memberships
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
  slowQuestions: Pick<SlowQuestions, "list">
  logLines: Pick<LogLines, "list">
  cookies: ImpersonationCookies
  backupWorkerUrl: string
  publicUrl(): string
  examine(report: Report, host: string | undefined): Promise<Check[]>
  /** Of the areas, which are set up later. */
  hooks(): DataHooks
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
  instance.jobs.define(VACUUM_JOB, { interrupted: "fail", run: storeWork.performVacuum })
  instance.jobs.define(ANALYZE_JOB, { interrupted: "fail", run: storeWork.performAnalyze })
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
    storage,
    slowQuestions: options.slowQuestions,
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
      const { diagnosticsZip } = await import("./diagnostics.ts")
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
