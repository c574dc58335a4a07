import { type OwnTables, sql } from "#plugin"
import { LIMITS } from "../link.ts"

export type OrphanKind = "unknown_slug" | "root" | "expired" | "not_started"

export interface Orphan {
  /** Day in UTC, because the request belongs to no site. */
  day: string
  domain_id: number | null
  kind: OrphanKind
  /** Path without the query. Empty for all requests after the hundredth path of a day. */
  path_sample: string
  count: number
}

/** Requests without a link, counted in memory and written by a job. */
export interface Orphans {
  note(kind: OrphanKind, domainId: number | null, path: string): void
  flush(): Promise<void>
  /** Returns whether some are not written yet. */
  areWaiting(): boolean
  /** Returns the requests on some domains since a day, the most frequent first. */
  list(domainIds: readonly number[], since: string): Promise<Orphan[]>
  /** Returns the number of requests on the hosts of the instance by day and kind. */
  totals(since: string): Promise<Omit<Orphan, "path_sample" | "domain_id">[]>
  deleteBefore(day: string): Promise<void>
}

const PATH_CHARS = 100
const DOMAIN_SLICE = 20

export function createOrphans(db: OwnTables, now: () => number): Orphans {
  const counts = new Map<string, Orphan>()
  const samples = new Set<string>()
  let today = ""

  async function write(rows: readonly Orphan[]): Promise<void> {
    await db.transaction(async (statements) => {
      for (const { day, domain_id, kind, path_sample, count } of rows) {
        const { n } = (await statements.get<{ n: number }>(sql`select count(*) as n from links_orphans where day = ${day}`))!
        const known = await statements.get(sql`update links_orphans set count = count + ${count} where day = ${day}
          and ifnull(domain_id, 0) = ${domain_id ?? 0} and kind = ${kind} and path_sample = ${path_sample} returning id`)
        if (known) continue
        const sample = n < LIMITS.orphanSamples ? path_sample : ""
        await statements.run(sql`insert into links_orphans (day, domain_id, kind, path_sample, count)
          values (${day}, ${domain_id}, ${kind}, ${sample}, ${count})
          on conflict (day, ifnull(domain_id, 0), kind, path_sample) do update set count = count + excluded.count`)
      }
    })
  }

  function add(row: Orphan): void {
    const key = JSON.stringify([row.day, row.domain_id, row.kind, row.path_sample])
    const known = counts.get(key)
    if (known) known.count += row.count
    else counts.set(key, row)
  }

  return {
    note(kind, domainId, path) {
      const day = new Date(now()).toISOString().slice(0, 10)
      if (day !== today) samples.clear()
      today = day
      const wanted = path.slice(0, PATH_CHARS)
      if (samples.size < LIMITS.orphanSamples) samples.add(wanted)
      const sample = samples.has(wanted) ? wanted : ""
      add({ day, domain_id: domainId, kind, path_sample: sample, count: 1 })
    },
    areWaiting: () => counts.size > 0,
    async flush() {
      const rows = [...counts.values()]
      counts.clear()
      if (rows.length === 0) return
      try {
        await write(rows)
      } catch (error) {
        // Keep the counts for the next flush.
        for (const row of rows) add(row)
        throw error
      }
    },
    async list(domainIds, since) {
      const rows: Orphan[] = []
      for (const id of domainIds.slice(0, DOMAIN_SLICE))
        rows.push(
          ...(await db.all<Orphan>(sql`select day, domain_id, kind, path_sample, count from links_orphans
            where domain_id = ${id} and day >= ${since} order by count desc, id limit 100`)),
        )
      return rows.sort((a, b) => b.count - a.count)
    },
    totals: (since) =>
      db.all(sql`select day, kind, sum(count) as count from links_orphans where domain_id is null and day >= ${since}
        group by day, kind order by day desc, kind limit 400`),
    async deleteBefore(day) {
      const slice = sql`select id from links_orphans where day < ${day} limit 1000`
      for (let deleted = 1_000; deleted === 1_000; )
        deleted = (await db.all(sql`delete from links_orphans where id in (${slice}) returning id`)).length
    },
  }
}
