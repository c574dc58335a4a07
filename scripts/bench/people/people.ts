/** Queries that follow people over days, on a site whose visitors are users: in Footfall's store and in DuckDB, with equal answers. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PeopleScope } from "../../../src/domain/people.ts"
import type { SiteFacts } from "../../../src/domain/query.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { benchData, type DataOptions } from "../stores/data.ts"
import { type Duckdb, openDuckdb } from "../stores/duckdb.ts"
import { openFootfall } from "../stores/footfall.ts"
import { DAY_MS } from "../stores/reports.ts"
import { count, ms, table, times } from "../table.ts"
import { timed } from "../timing.ts"
import { activeCases } from "./active.ts"
import { retentionCases } from "./retention.ts"
import { measureSets, setCases } from "./sets.ts"

/** A query in both stores. The answers are compared as JSON. */
export interface PeopleCase {
  name: string
  /** Bar in milliseconds. DuckDB with two threads must need at least twice as long as Footfall, or `ratio` times. */
  barMs: number
  ratio?: number
  footfall(snapshot: Snapshot): unknown
  duckdb(all: Duckdb["all"]): Promise<unknown>
}

/** What the cases have in common. */
export interface PeopleBench {
  site: SiteFacts
  scope: PeopleScope
  /** End of the last UTC day with data. */
  end: number
}

export interface FilledPeople extends AsyncDisposable {
  footfall: ReturnType<typeof openFootfall>
  duckdb: Duckdb
}

const SITE: SiteFacts = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }

/** Returns what the cases have in common, for data that ends at a given time. */
function benchUntil(end: number): PeopleBench {
  const scope = { site: SITE, timezone: "UTC", now: end, identifiedOnly: true, saltEdges: [], deviceMs: 0, siteKey: new Uint8Array(32) }
  return { site: SITE, scope, end }
}

/** Returns every case, for data that ends at a given time. */
export function peopleCases(end: number): PeopleCase[] {
  const bench = benchUntil(end)
  return [...activeCases(bench), ...retentionCases(bench), ...setCases(bench)]
}

export async function fillPeople(options: DataOptions): Promise<FilledPeople> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const footfall = openFootfall(folder, options.end - options.days * DAY_MS)
  const duckdb = await openDuckdb(folder, 2)
  for (const visits of benchData({ ...options, users: true })) {
    await footfall.load(visits)
    await duckdb.load(visits)
  }
  await footfall.finish()
  await duckdb.finish()
  return {
    footfall,
    duckdb,
    async [Symbol.asyncDispose]() {
      await footfall.close()
      await duckdb.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Throws when the two stores answer a case differently. */
export async function comparePeople({ footfall, duckdb }: FilledPeople, { name, ...one }: PeopleCase): Promise<void> {
  const [own, other] = [one.footfall(footfall.snapshot(SITE.id)), await one.duckdb(duckdb.all)].map((answer) => JSON.stringify(answer))
  if (own !== other) throw new Error(`The answers to ${name} differ:\n${own?.slice(0, 2_000)}\n${other?.slice(0, 2_000)}`)
}

export async function measurePeople(options: DataOptions): Promise<void> {
  await using filled = await fillPeople(options)
  const { footfall, duckdb } = filled
  console.log(
    `\n### People: ${count(options.events)} events over ${options.days} days, ${count(footfall.snapshot(SITE.id).visitorLimit)} users\n`,
  )
  const rows: (string | number)[][] = []
  for (const one of peopleCases(options.end)) {
    await comparePeople(filled, one)
    const own = await timed(() => one.footfall(footfall.snapshot(SITE.id)))
    const other = await timed(() => one.duckdb(duckdb.all))
    const ratio = other.median / own.median
    const isMet = own.median <= one.barMs && ratio >= (one.ratio ?? 2)
    rows.push([one.name, ms(own.median), ms(own.p95), one.barMs, ms(other.median), times(ratio), isMet ? "yes" : "no"])
  }
  console.log(table(["Query", "Footfall ms", "p95", "Bar ms", "DuckDB 2 threads", "DuckDB ÷ Footfall", "Bar met"], rows))
  await measureSets(filled, benchUntil(options.end))
}
