import { Type as t } from "@sinclair/typebox"
import type { Actor, AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { refuseFaults } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import { inspect } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import type { Clickhouse } from "../../store/clickhouse/client.ts"
import type { EventStore } from "../../store/events/events.ts"
import { type Audit, recorded } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { BeginJob, JobWork } from "../jobs/jobs.ts"
import type { Report } from "../runtime/control.ts"
import type { Exclusive } from "../runtime/tasks.ts"
import type { BesideSettings, InstanceSettings } from "../settings/settings.ts"
import type { Sites } from "../sites/sites.ts"
import type { DataHooks } from "./data-hooks.ts"
import type { RetentionOfNodes } from "./erasure.ts"
import { countOld, type RetentionPreview } from "./retention-count.ts"
import { type Cutoff, cutoffOf, DaysOrNull, midnightOf, readCutoffs, retentionDays, type SiteCutoff, SiteId } from "./retention-cutoffs.ts"

const RetentionInput = t.Object(
  {
    default_days: t.Optional(DaysOrNull),
    sites: t.Optional(
      t.Array(
        t.Object(
          { site_id: SiteId, retention_days: DaysOrNull, name: t.Optional(t.Unknown()), source: t.Optional(t.Unknown()) },
          { additionalProperties: false },
        ),
        { maxItems: 1_000 },
      ),
    ),
  },
  { additionalProperties: false, title: "RetentionInput" },
)

/** Retention settings, and the removal of older visits. */
export interface ConsoleRetention {
  list(): Promise<{
    default_days: number | null
    sites: { site_id: number; name: string; retention_days: number | null; source: string }[]
  }>
  /** Throws `validation_failed`, `site_not_found`, `set_elsewhere`. */
  change(actor: Actor, body: unknown): Promise<void>
  /** Throws `validation_failed`, `site_not_found`. */
  preview(body: unknown): Promise<RetentionPreview>
  /** Starts a job that removes exactly the visits in the preview of the same body. */
  run(actor: Actor, body: unknown, alongside?: Alongside<Job>): Promise<Job>
  /** Removes the visits without a job, while the caller waits. Returns their number. */
  runNow(actor: Actor, body: unknown, report: Report): Promise<number>
  /** Starts a job that removes the visits of a site before a given day. */
  purge(actor: Actor, site: Site, body: unknown, alongside?: Alongside<Job>): Promise<Job>
  /** Counts the visits that `purge` would remove. */
  countBefore(site: Site, body: unknown): Promise<RetentionPreview>
  /** Runs the job. */
  perform(work: JobWork<RemovalPayload>): Promise<number>
}

export interface RetentionOptions {
  dataDir: string
  backupWorkerUrl: string
  clock: Pick<Clock, "now">
  events: Pick<EventStore, "retain" | "retainTotals" | "emptyLog">
  imports: Pick<VisibleImports, "retain">
  exclusive: Exclusive
  sites: Pick<Sites, "get" | "updateWithin" | "show">
  allSites(): Promise<readonly Site[]>
  settings: InstanceSettings
  audit: Audit
  beginJob: BeginJob
  hooks: DataHooks
  /** What has the events. Undefined when they are only in the data folder. */
  shipped: ({ clickhouse: Clickhouse } & RetentionOfNodes) | undefined
  /** Changes settings of the instance. Only in the console. */
  changeSettings?(actor: Actor, changes: object, beside: BesideSettings): Promise<unknown>
  /** Returns bytes and events of columnar segments by site. */
  segments(): Promise<readonly { site_id: number; bytes: number; events: number }[]>
}

export const RETENTION_JOB = "core.remove-visits"

export function createRetention(options: RetentionOptions): ConsoleRetention {
  const { clock, sites, settings, audit } = options

  function begin(actor: Actor, action: string, cutoffs: readonly SiteCutoff[], alongside?: Alongside<Job>): Promise<Job> {
    const payload = { cutoffs: cutoffs.map(({ site_id, day }) => ({ site_id, day })), actor }
    const only = cutoffs.length === 1 ? cutoffs[0]!.site : undefined
    const job = { kind: RETENTION_JOB, payload, ...(only && { siteId: only.id }) }
    return options.beginJob(actor, job, beginEntry(action, cutoffs, only), alongside)
  }

  return {
    async list() {
      const all = await options.allSites()
      return {
        default_days: settings.get("default_retention_days"),
        sites: all.map((site) => ({
          site_id: site.id,
          name: site.name,
          retention_days: retentionDays(site, settings),
          source: site.retention_days === null ? "default" : "site",
        })),
      }
    },
    async change(actor, body) {
      const { fields, faults } = inspect(RetentionInput, body)
      refuseFaults(faults)
      for (const { site_id } of fields.sites ?? []) await sites.get(site_id)
      const describe = ({ id, name, organization_id }: Site) => ({
        action: "admin.retention.update",
        target: { type: "site", id, label: name },
        organizationId: organization_id,
        siteId: id,
      })
      const alongside = recorded(audit, actor, describe)
      const changed: Site[] = []
      await options.changeSettings?.(actor, fields.default_days === undefined ? {} : { default_retention_days: fields.default_days }, {
        async alongside(statements) {
          for (const { site_id, retention_days } of fields.sites ?? [])
            changed.push(await sites.updateWithin(statements, site_id, { retention_days }, { alongside }))
        },
        committed: () => sites.show(changed),
      })
    },
    async preview(body) {
      const { at, cutoffs } = await readCutoffs(options, body)
      return countOld(options, at, cutoffs)
    },
    async run(actor, body, alongside) {
      const { cutoffs } = await readCutoffs(options, body)
      return begin(actor, "admin.retention.run", cutoffs, alongside)
    },
    async runNow(actor, body, report) {
      const { cutoffs } = await readCutoffs(options, body)
      return removeOld(options, {
        payload: { cutoffs: cutoffs.map(({ site_id, day }) => ({ site_id, day })), actor },
        signal: new AbortController().signal,
        progress: ({ phase, done, total = 0 }) => report({ what: phase, done, total }),
        save: async () => {},
      })
    },
    purge: async (actor, site, body, alongside) => begin(actor, "admin.site.purge", cutoffOf(site, body, clock.now()), alongside),
    countBefore: async (site, body) => countOld(options, clock.now(), cutoffOf(site, body, clock.now())),
    perform: (work) => removeOld(options, work),
  }
}

function beginEntry(action: string, cutoffs: readonly Cutoff[], only: Site | undefined): AuditEntry {
  const changes = { cutoffs: [null, cutoffs.map(({ site_id, day }) => `${site_id}: ${day}`)] as const }
  if (!only) return { action, target: { type: "instance", id: "retention", label: "" }, changes }
  const { id, name, organization_id } = only
  return { action, target: { type: "site", id, label: name }, organizationId: organization_id, siteId: id, changes }
}

/** The cutoffs of a removal and its progress. */
export interface RemovalPayload {
  cutoffs: Cutoff[]
  actor: Actor
  /** Number of cutoffs that are done, and of removed visits. */
  done?: number
  visits?: number
}
type Work = Pick<JobWork<RemovalPayload>, "payload" | "signal" | "progress" | "save">

interface RemovalTerms {
  events: Pick<EventStore, "retain" | "retainTotals" | "emptyLog">
  imports: Pick<VisibleImports, "retain">
  exclusive: Exclusive
  sites: Pick<Sites, "get">
  clock: Pick<Clock, "now">
  audit: Pick<Audit, "writeAlone">
  hooks: DataHooks
  shipped: RetentionOfNodes | undefined
}

/** Removes the visits and imported totals of a site that are older than the local midnight of a day. */
export async function retainSite(
  { events, imports, clock }: Pick<RemovalTerms, "events" | "imports" | "clock">,
  site: Site,
  day: string,
): Promise<{ visits: number; imported_totals: number }> {
  await imports.retain(site.id, day)
  const visits = await events.retain(site.id, midnightOf(site, day), clock.now())
  const imported_totals = await events.retainTotals(site.id, day, clock.now())
  if (visits + imported_totals > 0) await events.emptyLog()
  return { visits, imported_totals }
}

/** Removes visits site by site, and continues where an interrupted removal stopped. Writes audit entries before and after each site. */
export async function removeOld(
  { events, imports, exclusive, sites, clock, audit, hooks, shipped }: RemovalTerms,
  { payload, signal, progress, save }: Work,
): Promise<number> {
  const { cutoffs, actor } = payload
  let { done = 0, visits = 0 } = payload
  for (; done < cutoffs.length; done++) {
    if (signal.aborted) return visits
    const { site_id, day } = cutoffs[done]!
    progress({ phase: "removing", done, total: cutoffs.length })
    const site = await sites.get(site_id).catch(() => undefined)
    if (site) {
      const about = { target: { type: "site", id: site_id, label: site.name }, organizationId: site.organization_id, siteId: site_id }
      await audit.writeAlone(actor, { action: "admin.retention.begin", ...about, changes: { cutoff: [null, day] } })
      const removed = await exclusive.run(async () => {
        const removedRows = await retainSite({ events, imports, clock }, site, day)
        return { ...removedRows, ...(await hooks.onRetention(site_id, day)) }
      })
      await shipped?.retainOnOthers(site_id, { startedBefore: midnightOf(site, day), firstDay: day })
      visits += removed.visits
      const changes = Object.fromEntries(Object.entries(removed).map(([what, rows]) => [what, [rows, 0] as const]))
      await audit.writeAlone(actor, { action: "admin.retention.end", ...about, changes })
    }
    await save({ cutoffs, actor, done: done + 1, visits })
  }
  progress({ phase: "done", done: cutoffs.length, total: cutoffs.length })
  return visits
}
