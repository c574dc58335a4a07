import { type OwnStatements, type Signal, type Site, sql } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { GOAL_COMPLETED } from "./events.ts"

export interface Completions {
  /** Publishes how many conversions of each goal arrived, where a webhook or chat names the event. For the job of each minute. */
  publish(signal: AbortSignal): Promise<void>
  /** Returns whether a webhook or chat names the event, or did until now. */
  areWanted(): Promise<boolean>
}

interface GoalCount {
  goal_id: number
  rule: string
  since: number
  counted: number
}

const DAY_MS = 86_400_000
/** Age of the moment since which conversions are counted. Server-side events of the last day are therefore noticed. */
const [YOUNGEST_MS, OLDEST_MS] = [DAY_MS, 2 * DAY_MS]

export function createCompletions(host: IntegrationsHost): Completions {
  const { db, now } = host
  /** Whether counts may be stored for sites that no one listens to any more. */
  let hasCounts = true

  /**
   * Compares the conversions since a fixed moment with those of the last time. So each conversion is published once, also if its event
   * arrived late, and across restarts. Conversions that were erased are not missed.
   */
  async function publishSite(site: Site, signal: AbortSignal): Promise<void> {
    const goals = host.services.goals.rules(site.id)
    if (goals.length === 0) return
    const at = now()
    const known = new Map((await countsOf(db, site.id)).map((count) => [count.goal_id, count]))
    const plans = goals.map((goal) => {
      const before = known.get(goal.id)
      const rule = JSON.stringify(goal)
      const isFit = before?.rule === rule && before.since <= at && at - before.since < OLDEST_MS
      const since = isFit ? before.since : at - YOUNGEST_MS
      return { goal, rule, since, before: before?.rule === rule && before.since <= at ? before : undefined }
    })
    const signals = plans.flatMap(({ goal, since, before }): Signal[] => {
      const from = (start: number): Signal => ({ of: "conversions", goal, range: { from: start, to: Number.MAX_SAFE_INTEGER } })
      return [from(since), ...(before && before.since !== since ? [from(before.since)] : [])]
    })
    const { values } = await host.engine.signals(
      { site: { id: site.id }, now: at, signals },
      { organizationId: site.organization_id, isBackground: true, signal },
    )
    const changes = plans.flatMap(({ goal, rule, since, before }) => {
      const counted = values.shift() ?? 0
      const total = before && before.since !== since ? (values.shift() ?? 0) : counted
      const arrived = before ? Math.max(0, total - before.counted) : 0
      const isSame = before?.since === since && before.counted === counted
      return isSame ? [] : [{ goal, arrived, count: { goal_id: goal.id, rule, since, counted } }]
    })
    if (changes.length === 0) return
    await db.transaction(async (statements) => {
      for (const { goal, arrived, count } of changes) {
        await putCount(statements, site.id, count)
        if (arrived === 0) continue
        const payload = { goal_id: goal.id, name: goal.name, conversions: arrived }
        await host.outbox.write(statements, { event: GOAL_COMPLETED, organizationId: site.organization_id, siteId: site.id, payload })
      }
    })
  }

  return {
    areWanted: async () => hasCounts || (await listeningSites(host)).length > 0,
    async publish(signal) {
      const sites = await listeningSites(host)
      if (sites.length > 0 || hasCounts) await forgetOthers(db, sites)
      hasCounts = sites.length > 0
      for (const site of sites) {
        if (signal.aborted) return
        await publishSite(site, signal).catch((error) =>
          host.log.warn("the completed goals of a site could not be counted; the next run tries again", { site: site.id, error }),
        )
      }
    },
  }
}

/** Returns the sites with a webhook or chat that names the event, of the site or of its organization. */
async function listeningSites({ db, services }: IntegrationsHost): Promise<Site[]> {
  const places = await db.all<{ organization_id: number; site_id: number | null }>(sql`
    select organization_id, site_id from integrations_webhooks
      where enabled = 1 and exists (select 1 from json_each(events_json) where value = ${GOAL_COMPLETED})
    union
    select organization_id, site_id from integrations_integrations
      where exists (select 1 from json_each(config_json, '$.events') where value = ${GOAL_COMPLETED})
    limit 1000`)
  const sites: Site[] = []
  for (const { organization_id, site_id } of places) {
    const one = site_id === null ? undefined : services.sites.directory.byId(site_id)
    sites.push(...(site_id === null ? await services.sites.list(organization_id) : one ? [one] : []))
  }
  return [...new Map(sites.map((site) => [site.id, site])).values()]
}

const countsOf = (statements: OwnStatements, siteId: number): Promise<GoalCount[]> =>
  statements.all(sql`select goal_id, rule, since, counted from integrations_goal_counts where site_id = ${siteId} limit 1000`)

const putCount = (statements: OwnStatements, siteId: number, { goal_id, rule, since, counted }: GoalCount): Promise<void> =>
  statements.run(sql`
    insert into integrations_goal_counts (site_id, goal_id, rule, since, counted)
    values (${siteId}, ${goal_id}, ${rule}, ${since}, ${counted})
    on conflict (site_id, goal_id) do update set rule = excluded.rule, since = excluded.since, counted = excluded.counted`)

/** Deletes the counts of sites that no one listens to, so that what arrives meanwhile is not published later. */
const forgetOthers = (statements: OwnStatements, sites: readonly Site[]): Promise<void> =>
  statements.run(sql`
    delete from integrations_goal_counts
    where site_id not in (select value from json_each(${JSON.stringify(sites.map(({ id }) => id))}))`)
