/** Recomputes stored conversions and touches after rates or settings changed. The report answers with what is done. */
import { type Actor, dayStart, type Job, type JobWork, type OwnStatements, parseDay, type Site, sql } from "#plugin"
import { revenueError } from "../errors.ts"
import type { RevenueHost } from "../host.ts"
import type { Attribution } from "./attribution.ts"

export const RECOMPUTE_JOB = "recompute-transactions"

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

export function createRecompute(host: RevenueHost, attribution: Pick<Attribution, "recompute">) {
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

  /** Recomputes a slice. Returns the position after it, or undefined at the end. */
  async function slice(
    site: Site,
    { request: wanted, at, id, done }: Required<Progress>,
    signal: AbortSignal,
  ): Promise<Progress | undefined> {
    const from = wanted.from === null ? undefined : dayStart(parseDay(wanted.from)!, site.timezone)
    const place = from !== undefined && at < from ? { at: from - 1, id: Number.MAX_SAFE_INTEGER } : { at, id }
    const rows = await attribution.recompute(site, { ...place, isTouched: wanted.touches }, signal)
    const last = rows.at(-1)
    return last && { request: wanted, at: last.occurred_at, id: last.id, done: done + rows.length }
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
    start: (site: Site, actor: Actor, alongside: (statements: OwnStatements, job: Job) => Promise<unknown>): Promise<Job> =>
      db.transaction(async (statements) => {
        if (((await stateOf(statements, site.id)) ?? "done") !== "done")
          throw revenueError("recompute_running", "The transactions of this site are being recomputed already.")
        const job = (await request(statements, site, ALL))! // without a slot a job is always created
        const target = { type: "revenue_settings", id: site.id, label: site.name }
        await host.audit.write(statements, actor, {
          ...{ action: "revenue.transactions.recompute", target, siteId: site.id, organizationId: site.organization_id },
        })
        await alongside(statements, job)
        return job
      }),

    /** Requests the conversion of the transactions of a site, or of all sites, from a day on. */
    async ratesChanged(from: string, siteId: number | undefined): Promise<void> {
      const sites = siteId === undefined ? await services.allSites() : [services.sites.directory.byId(siteId)]
      for (const site of sites)
        if (site && (siteId !== undefined || (await hasTransactions(site, from))))
          await db.transaction((statements) => request(statements, site, { from, touches: false }))
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
      for (let slices = 1; position && !signal.aborted; slices++) {
        const next: Progress | undefined = await slice(site, position as Required<Progress>, signal) // it has a request
        if (next) progress({ phase: "recompute", done: next.done })
        if (next && slices % SLICES_PER_SAVE === 0) await save(next)
        position = next
      }
      if (!signal.aborted) await finish(site.id)
    },
  }
}
export type Recompute = ReturnType<typeof createRecompute>

const START: Progress = { at: Number.MIN_SAFE_INTEGER, id: 0, done: 0 }
const SLICES_PER_SAVE = 5

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
