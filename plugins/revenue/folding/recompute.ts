/** Recomputes stored conversions and touches after rates or settings changed. The report answers with what is done. */
import { type Actor, dayStart, type Job, type JobWork, type OwnStatements, parseDay, type Site, sql } from "#plugin"
import { revenueError } from "../errors.ts"
import type { RevenueHost } from "../host.ts"
import { RECOMPUTE_JOB, type RevenueSettingsStore } from "../settings.ts"
import type { Attribution } from "./attribution.ts"

/** What has to be recomputed. */
export interface RecomputeRequest {
  /** Only what happened from this day on. Null for everything. */
  from: string | null
  /** Whether touches are looked up again. Conversions are in any case. */
  touches: boolean
}

/** What a job has taken on, and the position after which it continues. */
interface Progress {
  request?: RecomputeRequest
  at: number
  id: number
  done: number
}

export const ALL: RecomputeRequest = { from: null, touches: true }

interface RecomputeParts {
  attribution: Pick<Attribution, "recompute">
  settings: Pick<RevenueSettingsStore, "of">
}

export function createRecompute(host: RevenueHost, { attribution, settings }: RecomputeParts) {
  const { db, jobs, services } = host

  /** Adds a request to those of a site, in the transaction that makes it necessary. */
  async function request(statements: OwnStatements, site: Site, wanted: RecomputeRequest): Promise<Job | undefined> {
    const waiting = await requestOf(statements, site.id)
    const json = JSON.stringify(waiting ? union(waiting, wanted) : wanted)
    await statements.run(sql`insert into revenue_settings (site_id, recompute_state, recompute_request_json) values (${site.id}, 'queued', ${json})
      on conflict (site_id) do update set recompute_state = 'queued', recompute_request_json = excluded.recompute_request_json`)
    const job = { key: String(site.id), join: true, siteId: site.id, organizationId: site.organization_id, payload: START }
    return jobs.enqueue(RECOMPUTE_JOB, job, statements)
  }

  /** Recomputes a part. Returns the position after it, or undefined at the end. */
  async function recomputePart(
    site: Site,
    { request: wanted, at, id, done }: Required<Progress>,
    signal: AbortSignal,
  ): Promise<Progress | undefined> {
    const from = wanted.from === null ? undefined : dayStart(parseDay(wanted.from)!, site.timezone)
    const place = from !== undefined && at < from ? { occurred_at: from - 1, id: Number.MAX_SAFE_INTEGER } : { occurred_at: at, id }
    const next = await attribution.recompute(site, { ...place, done, isTouched: wanted.touches }, signal)
    return next && { request: wanted, at: next.occurred_at, id: next.id, done: next.done }
  }

  /**
   * Takes the waiting requests of a site. Those that come later are taken by another job. If the process was killed after it took them and
   * before it saved them, everything is recomputed.
   */
  function take(siteId: number): Promise<RecomputeRequest | undefined> {
    return db.transaction(async (statements) => {
      const waiting = await requestOf(statements, siteId)
      if (!waiting) return (await stateOf(statements, siteId)) === "running" ? ALL : undefined
      await statements.run(
        sql`update revenue_settings set recompute_state = 'running', recompute_request_json = null where site_id = ${siteId}`,
      )
      return waiting
    })
  }

  const finish = (siteId: number): Promise<void> =>
    db.run(sql`update revenue_settings set recompute_state = 'done' where site_id = ${siteId} and recompute_state = 'running'`)

  function hasTransactions(site: Site, from: string): Promise<boolean> {
    const at = dayStart(parseDay(from)!, site.timezone)
    return host.rows.write(
      ({ get }) =>
        get(sql`select 1 as one from revenue_transactions where site_id = ${site.id} and occurred_at >= ${at} limit 1`) !== undefined,
    )
  }

  return {
    request,

    /** Requests the recomputation of everything by a member. Throws `recompute_running`. */
    async start(site: Site, actor: Actor, alongside: (statements: OwnStatements, job: Job) => Promise<unknown>): Promise<Job> {
      const { hasFailedRecompute } = await settings.of(site)
      return db.transaction(async (statements) => {
        if (!hasFailedRecompute && ((await stateOf(statements, site.id)) ?? "done") !== "done")
          throw revenueError("recompute_running", "The transactions of this site are being recomputed already.")
        const job = (await request(statements, site, ALL))! // without a slot a job is always created
        const target = { type: "revenue_settings", id: site.id, label: site.name }
        await host.audit.write(statements, actor, {
          ...{ action: "revenue.transactions.recompute", target, siteId: site.id, organizationId: site.organization_id },
        })
        await alongside(statements, job)
        return job
      })
    },

    /** Requests the conversion of the transactions of a site, or of all sites, from a day on. */
    async ratesChanged(from: string, siteId: number | undefined): Promise<void> {
      const sites = siteId === undefined ? await services.allSites() : [services.sites.directory.byId(siteId)]
      for (const site of sites) {
        if (!site || (siteId === undefined && !(await hasTransactions(site, from)))) continue
        const { hasFailedRecompute } = await settings.of(site)
        await db.transaction((statements) => request(statements, site, hasFailedRecompute ? ALL : { from, touches: false }))
      }
    },

    async run({ job, payload, signal, progress, save }: JobWork<Progress>): Promise<void> {
      const site = job.site_id === null ? undefined : services.sites.directory.byId(job.site_id)
      if (!site) return
      let position: Progress | undefined = payload
      if (!payload.request) {
        const taken = await take(site.id)
        if (!taken) return
        position = { ...START, request: taken }
        await save(position)
      }
      while (position && !signal.aborted) {
        position = await recomputePart(site, position as Required<Progress>, signal) // it has a request
        if (!position) break
        progress({ phase: "recompute", done: position.done })
        await save(position)
      }
      if (!signal.aborted) await finish(site.id)
    },
  }
}
export type Recompute = ReturnType<typeof createRecompute>

const START: Progress = { at: Number.MIN_SAFE_INTEGER, id: 0, done: 0 }

async function requestOf(statements: OwnStatements, siteId: number): Promise<RecomputeRequest | undefined> {
  const row = await statements.get<{ json: string | null }>(
    sql`select recompute_request_json as json from revenue_settings where site_id = ${siteId}`,
  )
  return row?.json ? (JSON.parse(row.json) as RecomputeRequest) : undefined // written by `request`
}

const stateOf = async (statements: OwnStatements, siteId: number): Promise<string | undefined> =>
  (await statements.get<{ state: string }>(sql`select recompute_state as state from revenue_settings where site_id = ${siteId}`))?.state

const union = (a: RecomputeRequest, b: RecomputeRequest): RecomputeRequest => ({
  from: a.from === null || b.from === null ? null : [a.from, b.from].sort()[0]!,
  touches: a.touches || b.touches,
})
