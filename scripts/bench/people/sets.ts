/** A cohort of three conditions, in Footfall and in SQL, and what it costs as a filter and as a frozen cohort. */
import { Database } from "bun:sqlite"
import type { Filter } from "../../../src/domain/filter.ts"
import type { PeopleSet } from "../../../src/domain/people.ts"
import type { Query } from "../../../src/domain/query.ts"
import { answerTask } from "../../../src/query/engine/queries.ts"
import { peopleStates } from "../../../src/query/people/sets.ts"
import { IN } from "../../../src/query/people/slice.ts"
import { pseudonyms } from "../../../src/query/show/pseudonyms.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { DAY_MS, lastDays } from "../stores/reports.ts"
import { ms, table, times } from "../table.ts"
import { timed } from "../timing.ts"
import type { FilledPeople, PeopleBench, PeopleCase } from "./people.ts"

const unwatched = () => {}
const FROZEN_PEOPLE = 1_000_000
/** People per row of a frozen cohort. */
const CHUNK = 65_536

/** Returns a snapshot whose reports find no earlier results, so that a set is evaluated. */
const withoutResults = (snapshot: Snapshot): Snapshot => ({ ...snapshot, results: { get: () => undefined, set: unwatched } })

export function setCases(bench: PeopleBench): PeopleCase[] {
  return [
    {
      name: "cohort of 3 conditions",
      barMs: 150,
      footfall(snapshot) {
        const states = peopleStates(withoutResults(snapshot), signedUpNotBought(bench), unwatched)
        return countStates(states)
      },
      async duckdb(all) {
        const name = (text: string) => `(select id from texts where dictionary = 'name' and text = '${text}')`
        const { site, end } = bench
        const windowEnd = `(signed_at // ${DAY_MS} + 8) * ${DAY_MS}`
        const rows = await all(`
          with signed as (
            select visitor, min(at_ms) as signed_at from events where site_id = ${site.id} and name = ${name("signup")} group by visitor
          ), active as (
            select visitor from visits where site_id = ${site.id} group by visitor having count(distinct start // ${DAY_MS}) >= 3
          ), bought as (
            select distinct signed.visitor from signed join events e on e.visitor = signed.visitor
            where e.site_id = ${site.id} and e.name = ${name("purchase")} and e.at_ms >= signed_at and e.at_ms < ${windowEnd}
          )
          select count(*) filter (where ${windowEnd} <= ${end}), count(*) filter (where ${windowEnd} > ${end})
          from signed join active using (visitor) where visitor not in (select visitor from bought)`)
        return rows[0]!.map(Number)
      },
    },
  ]
}

/** Signed up at any time, active on three days, and no purchase within seven days. */
export function signedUpNotBought({ scope, end }: PeopleBench): PeopleSet {
  const event = (name: string): Filter => ({ op: "is", dimension: "event", values: [name], missing: false, caseSensitive: true })
  const conditions = [
    { test: { of: "events", filter: event("signup") }, negate: false },
    { test: { of: "active_days" }, negate: false, count: { op: "gte", n: 3 } },
    { test: { of: "events", filter: event("purchase") }, negate: true, window: { after: 0, days: 7 } },
  ] as const
  return { key: "signed up, not bought", scope, until: end, members: { by: "group", group: { match: "all", conditions } } }
}

function countStates(states: Uint8Array): [inside: number, undecided: number] {
  let [inside, undecided] = [0, 0]
  for (let ordinal = 0; ordinal < states.length; ordinal++) {
    if (states[ordinal] === IN) inside++
    else if (states[ordinal] !== 0) undecided++
  }
  return [inside, undecided]
}

/** Prints what a set costs beyond its first evaluation. */
export async function measureSets({ footfall }: FilledPeople, bench: PeopleBench): Promise<void> {
  const snapshot = () => footfall.snapshot(bench.site.id)
  const rows: (string | number)[][] = []
  const add = (name: string, median: number, bar: string, isMet: boolean) => rows.push([name, ms(median), bar, isMet ? "yes" : "no"])
  const set = signedUpNotBought(bench)
  for (const name of ["summary", "pages"] as const) {
    const report = (filter?: Filter) => answerTask(snapshot(), { kind: "aggregate", query: queryOf(name, bench, filter) }, unwatched)
    const plain = await timed(() => report())
    report({ op: "people", set })
    const filtered = await timed(() => report({ op: "people", set }))
    const ratio = filtered.median / plain.median
    add(`${name} of 30 days, of the cohort (${ms(plain.median)} ms of everyone)`, filtered.median, `1.5 (is ${times(ratio)})`, ratio <= 1.5)
  }
  const people = freeze(footfall.path, bench, snapshot().visitorLimit)
  const frozen: PeopleSet = {
    ...set,
    key: "frozen",
    members: { by: "stored", text: "select visitors from bench_members order by chunk", values: [] },
  }
  const from = performance.now()
  peopleStates(snapshot(), frozen, unwatched)
  add(`frozen cohort of ${people} people, first evaluation`, performance.now() - from, "", true)
  let day = 0
  // Another end of the set, so that only the stored people are known.
  const warm = await timed(() => peopleStates(snapshot(), { ...frozen, until: bench.end + day++ }, unwatched))
  add("the same afterwards, on data that changed", warm.median, "50", warm.median <= 50)
  const known = await timed(() => peopleStates(snapshot(), frozen, unwatched))
  add("the same on the same data", known.median, "50", known.median <= 50)
  console.log(table(["Set", "Median ms", "Bar", "Bar met"], rows))
}

function queryOf(name: "summary" | "pages", { site, end }: PeopleBench, filter?: Filter): Query {
  const range = lastDays(30, end)
  const whole = { site, range, timezone: "UTC", now: end, offset: 0, fillBuckets: false, ...(filter && { filter }) }
  if (name === "summary") {
    const metrics = ["visitors", "visits", "pageviews", "events", "views_per_visit", "bounce_rate", "visit_duration"] as const
    return { ...whole, metrics, groupings: [], order: [], limit: 1 }
  }
  const groupings = [{ by: "dimension", dimension: "page" }] as const
  return {
    ...whole,
    metrics: ["visitors", "visits", "pageviews"],
    groupings,
    order: [{ by: "metric", index: 0, descending: true }],
    limit: 10,
  }
}

/** Stores people as a frozen cohort does. Returns their number. */
function freeze(path: string, { scope }: PeopleBench, visitorLimit: number): number {
  const people = Math.min(FROZEN_PEOPLE, visitorLimit)
  const names = pseudonyms(scope.siteKey, "visitor")(Array.from({ length: people }, (_, ordinal) => ordinal)).sort()
  using db = new Database(path)
  db.run("create table bench_members (chunk integer primary key, visitors blob not null)")
  for (let chunk = 0; chunk * CHUNK < people; chunk++) {
    const visitors = Buffer.from(names.slice(chunk * CHUNK, (chunk + 1) * CHUNK).join(""), "hex")
    db.query("insert into bench_members values (?, ?)").run(chunk, visitors)
  }
  return people
}
