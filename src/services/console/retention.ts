import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { refuseFaults } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import { THINGS } from "../../domain/limits.ts"
import { instantText, parseDay, parseInstant } from "../../domain/moment.ts"
import { fault, inDocumentOrder, inspect } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import type { EventStore } from "../../store/events/events.ts"
import { type Audit, recorded } from "../audit.ts"
import { inBackupThread } from "../backup-thread.ts"
import type { Report } from "../control.ts"
import { placesIn } from "../data-folder.ts"
import type { DataHooks } from "../data-hooks.ts"
import type { Exclusive } from "../exclusive.ts"
import type { InstanceSettings } from "../instance-settings.ts"
import type { JobWork } from "../job-kinds.ts"
import type { Jobs } from "../jobs.ts"
import { cutoffDay, keptDays } from "../retention-days.ts"
import type { Sites } from "../sites.ts"

const { min: minimum, max: maximum } = THINGS.retentionDays
const Days = t.Integer({ minimum, maximum })
const DaysOrNull = t.Union([Days, t.Null()])
const SiteId = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

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

const RetentionRunInput = t.Object(
  {
    site_id: t.Optional(SiteId),
    retention_days: t.Optional(Days),
    at: t.Optional(t.String({ minLength: 20, maxLength: 40, description: "The moment that a preview told, for the same cutoffs" })),
  },
  { additionalProperties: false, title: "RetentionRunInput" },
)

const PurgeInput = t.Object(
  {
    before: t.String({ minLength: 10, maxLength: 10, description: "A day: visits that began before it go" }),
    dry_run: t.Optional(t.Boolean()),
  },
  { additionalProperties: false, title: "PurgeInput" },
)

/** Up to which local day of a site its visits go. */
export interface Cutoff {
  site_id: number
  /** `2026-11-21`: visits that started before its midnight. */
  day: string
}

export interface RetentionPreview {
  /** To be sent with the run, for the same cutoffs. */
  at: string
  by: { site_id: number; kind: "visits"; cutoff: string; rows: number; events: number; days: number }[]
  /** About, as columns are compressed together. */
  bytes: number
}

interface WorkPayload {
  cutoffs: Cutoff[]
  actor: Actor
  /** How many of them are done, and what went. */
  done?: number
  visits?: number
}
type Work = Pick<JobWork<WorkPayload>, "payload" | "signal" | "progress" | "save">

/** How long events are kept, and taking away what is older. */
export interface ConsoleRetention {
  list(): Promise<{
    default_days: number | null
    sites: { site_id: number; name: string; retention_days: number | null; source: string }[]
  }>
  /** Throws `validation_failed`, `site_not_found`, `set_elsewhere`. */
  change(actor: Actor, body: unknown): Promise<void>
  /** Throws `validation_failed`, `site_not_found`. */
  preview(body: unknown): Promise<RetentionPreview>
  /** A job that takes exactly what the preview of the same body told. */
  run(actor: Actor, body: unknown): Promise<Job>
  /** The same at once, without a job: for whoever waits for it. Returns how many visits went. */
  runNow(actor: Actor, body: unknown, report: Report): Promise<number>
  /** Of one site, up to a day that somebody names; with `dry_run` it only counts. */
  purge(actor: Actor, site: Site, body: unknown): Promise<RetentionPreview | Job>
  /** What the job does. */
  perform(work: JobWork<WorkPayload>): Promise<number>
}

export interface RetentionOptions {
  dataDir: string
  backupWorkerUrl: string
  clock: Pick<Clock, "now">
  events: Pick<EventStore, "retain" | "checkpoint">
  exclusive: Exclusive
  sites: Pick<Sites, "get" | "update">
  allSites(): Promise<readonly Site[]>
  settings: InstanceSettings
  audit: Audit
  jobs: Jobs
  hooks(): DataHooks
  /** Of the console. */
  changeSettings?(actor: Actor, changes: object): Promise<unknown>
  /** Bytes and events of columnar segments, by site. */
  segments(): Promise<readonly { site_id: number; bytes: number; events: number }[]>
}

const DAY_MS = 86_400_000
export const RETENTION_JOB = "core.remove-visits"

const midnightOf = ({ timezone }: Pick<Site, "timezone">, day: string): number =>
  Temporal.PlainDate.from(day).toZonedDateTime(timezone).epochMilliseconds

export function createRetention(options: RetentionOptions): ConsoleRetention {
  const { clock, sites, settings, audit, jobs } = options

  /** What a body asks for; without a number of days what holds for each site. */
  async function asked(body: unknown): Promise<{ at: number; cutoffs: (Cutoff & { site: Site })[] }> {
    const { fields, faults } = inspect(RetentionRunInput, body, "", [])
    const at = fields.at === undefined ? clock.now() : parseInstant(fields.at)
    const isOdd = at === undefined || at > clock.now() || at < clock.now() - DAY_MS
    const wrong = isOdd ? [fault("/at", "out_of_range", "must be the moment of a preview of the last day")] : []
    refuseFaults(inDocumentOrder([...faults, ...wrong], body))
    const meant = fields.site_id === undefined ? await options.allSites() : [await sites.get(fields.site_id)]
    const cutoffs = meant.flatMap((site) => {
      const days = fields.retention_days ?? keptDays(site, settings)
      return days === null ? [] : [{ site, site_id: site.id, day: cutoffDay(site, days, at!).toString() }] // refused just now if it is none
    })
    return { at: at!, cutoffs }
  }

  async function count(at: number, cutoffs: readonly (Cutoff & { site: Site })[]): Promise<RetentionPreview> {
    const wanted = cutoffs.map(({ site, day }) => ({ id: site.id, before: midnightOf(site, day) }))
    const path = placesIn(options.dataDir).events
    const found = await inBackupThread<"count-old">(options.backupWorkerUrl, { do: "count-old", path, sites: wanted })
    const sizes = await options.segments()
    const by = cutoffs.map(({ site_id, day }, i) => {
      const { visits, events, first_at } = found[i]!
      const days = first_at === null ? 0 : Math.ceil((wanted[i]!.before - first_at) / DAY_MS)
      return { site_id, kind: "visits" as const, cutoff: day, rows: visits, events, days }
    })
    const bytes = by.reduce((sum, { site_id, events }) => sum + events * bytesAnEvent(sizes, site_id), 0)
    return { at: instantText(at), by, bytes: Math.round(bytes) }
  }

  async function enqueue(actor: Actor, cutoffs: readonly (Cutoff & { site: Site })[], siteId: number | undefined): Promise<Job> {
    const payload = { cutoffs: cutoffs.map(({ site_id, day }) => ({ site_id, day })), actor }
    const created = actor.kind === "user" && actor.id !== undefined ? { createdBy: actor.id } : {}
    const job = await jobs.enqueue({ kind: RETENTION_JOB, payload, ...created, ...(siteId !== undefined && { siteId }) })
    return job! // it has no slot that could be taken
  }

  return {
    async list() {
      const all = await options.allSites()
      return {
        default_days: settings.get("default_retention_days"),
        sites: all.map((site) => ({
          site_id: site.id,
          name: site.name,
          retention_days: keptDays(site, settings),
          source: site.retention_days === null ? "default" : "site",
        })),
      }
    },
    async change(actor, body) {
      const { fields, faults } = inspect(RetentionInput, body)
      refuseFaults(faults)
      for (const { site_id } of fields.sites ?? []) await sites.get(site_id)
      if (fields.default_days !== undefined) await options.changeSettings?.(actor, { default_retention_days: fields.default_days })
      const describe = ({ id, name, organization_id }: Site) => ({
        action: "admin.retention.update",
        target: { type: "site", id, label: name },
        organizationId: organization_id,
        siteId: id,
      })
      for (const { site_id, retention_days } of fields.sites ?? [])
        await sites.update(site_id, { retention_days }, { alongside: recorded(audit, actor, describe) })
    },
    async preview(body) {
      const { at, cutoffs } = await asked(body)
      return count(at, cutoffs)
    },
    async run(actor, body) {
      const { cutoffs } = await asked(body)
      return enqueue(actor, cutoffs, cutoffs.length === 1 ? cutoffs[0]!.site_id : undefined)
    },
    async runNow(actor, body, report) {
      const { cutoffs } = await asked(body)
      return perform(options, {
        payload: { cutoffs: cutoffs.map(({ site_id, day }) => ({ site_id, day })), actor },
        signal: new AbortController().signal,
        progress: ({ phase, done, total = 0 }) => report({ what: phase, done, total }),
        save: async () => {},
      })
    },
    async purge(actor, site, body) {
      const { fields, faults } = inspect(PurgeInput, body)
      const day = fields.before === undefined ? undefined : parseDay(fields.before)
      const wrong = fields.before !== undefined && !day ? [fault("/before", "invalid_date", "must be a day of the calendar")] : []
      refuseFaults(inDocumentOrder([...faults, ...wrong], body))
      const cutoffs = [{ site, site_id: site.id, day: day!.toString() }] // refused just now if it is none
      return fields.dry_run ? count(clock.now(), cutoffs) : enqueue(actor, cutoffs, site.id)
    },
    perform: (work) => perform(options, work),
  }
}

/** Site after site; what was cut off goes on where it was. Each site leaves a row in the log before and after. */
async function perform(
  { events, exclusive, sites, clock, audit, hooks }: RetentionOptions,
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
        const went = await events.retain(site_id, midnightOf(site, day), clock.now())
        if (went > 0) events.checkpoint("truncate")
        return { visits: went, ...(await hooks().onRetention(site_id, day)) }
      })
      visits += removed.visits
      const changes = Object.fromEntries(Object.entries(removed).map(([what, rows]) => [what, [rows, 0] as const]))
      await audit.writeAlone(actor, { action: "admin.retention.end", ...about, changes })
    }
    await save({ cutoffs, actor, done: done + 1, visits })
  }
  progress({ phase: "done", done: cutoffs.length, total: cutoffs.length })
  return visits
}

function bytesAnEvent(sizes: readonly { site_id: number; bytes: number; events: number }[], siteId: number): number {
  const own = sizes.filter(({ site_id }) => site_id === siteId)
  const events = own.reduce((sum, size) => sum + size.events, 0)
  return events === 0 ? 0 : own.reduce((sum, size) => sum + size.bytes, 0) / events
}
