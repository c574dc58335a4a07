/** Footfall's own store and kernels, in this process and on one thread, as a query worker runs them. */
import { statSync } from "node:fs"
import { plugins } from "../../../plugins/index.ts"
import type { Query, Range, SiteFacts } from "../../../src/domain/query.ts"
import { pluginFacts } from "../../../src/plugin/load.ts"
import { funnel } from "../../../src/query/funnel/funnel.ts"
import { aggregate } from "../../../src/query/measure/aggregate.ts"
import { eventSchemas } from "../../../src/store/events/database.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { EventReader, Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import type { Contender } from "./contender.ts"
import type { BenchVisit } from "./data.ts"
import { type Answer, DAY_MS, type Goal, type Report, ROWS_SHOWN, SUMMARY_METRICS } from "./reports.ts"

const CACHE_BYTES = 192 << 20
const SEAL_EVERY = 20 // batches

export function openFootfall(folder: string, start: number): Contender & { path: string; snapshot(siteId: number): Snapshot } {
  const path = `${folder}/events.db`
  const store = openEventStore(path, { now: start, schemas: eventSchemas(pluginFacts(plugins)) })
  let reader: EventReader | undefined
  let now = start
  let batches = 0
  const forgotten = new Map<number, number>()

  /** Deletes the lookups of visitors together with their salts, 48 hours after the start of the day. */
  function forget(visits: readonly BenchVisit[]): void {
    const due = Math.floor(now / DAY_MS) - 2
    for (const { siteId } of visits) {
      const last = forgotten.get(siteId) ?? Math.floor(start / DAY_MS) - 1
      for (let day = last + 1; day <= due; day++) store.forgetVisitors(siteId, dayName(day * DAY_MS))
      forgotten.set(siteId, Math.max(last, due))
    }
  }

  const read = () => {
    reader ??= openEventReader(path, { cacheBytes: CACHE_BYTES })
    return reader
  }

  return {
    name: "Footfall",
    path,
    snapshot: (siteId) => read().snapshot(siteId),
    async load(visits) {
      now = visits.reduce((latest, { events }) => Math.max(latest, events.at(-1)!.at), now)
      store.write(now, (writer) => {
        for (const visit of visits) write(writer, visit)
      })
      if (++batches % SEAL_EVERY !== 0) return
      forget(visits)
      await store.seal(now)
      store.checkpoint("passive")
    },
    async finish() {
      now += 2 * DAY_MS
      await store.seal(now, true)
      await store.merge(now)
      await store.dropRetired(now + DAY_MS)
      store.checkpoint("truncate")
      store.close()
    },
    bytes: () => statSync(path).size,
    async answer(siteId, report, range) {
      return answerFrom(read(), siteId, report, range)
    },
    close: () => reader?.close(),
  }
}

/** Users are numbered like visitors of a salt period that never ends, because only their visits are measured. */
const USERS = "~users"

function write(writer: Writer, { siteId, visitor, kind, traits, events }: BenchVisit): void {
  const day = dayName(events[0]!.at)
  const period = kind === "user" ? USERS : day
  const ordinal = writer.visitor(siteId, period, { high: Math.imul(visitor, 0x9e3779b1) >>> 0, low: visitor })
  const id = writer.openVisit(siteId, { rotating: ordinal, visitor: ordinal, visitorKind: kind, traits }, day)
  for (const event of events) writer.add(siteId, id, event, day)
}

const dayName = (at: number): string => new Date(at).toISOString().slice(0, 10)

function answerFrom(reader: EventReader, siteId: number, report: Report, range: Range): Answer {
  const snapshot = reader.snapshot(siteId)
  const site = siteOf(siteId, report.ask.kind === "goals" ? report.ask.goals : [])
  if (report.ask.kind === "funnel") {
    const steps = report.ask.steps.map(({ kind, ...step }) => ({ type: kind, ...step }))
    return [funnel(snapshot, { site, range, steps, order: "sequential" }, () => {}).steps.map(({ visitors }) => visitors)]
  }
  const { rows } = aggregate(snapshot, queryOf(site, report, range), () => {})
  return rows.map(({ keys, values }) => [...keys, ...values])
}

const siteOf = (id: number, goals: readonly Goal[]): SiteFacts => ({
  id,
  bounceEngagedSeconds: 0,
  revenueCurrency: "EUR",
  goals: goals.map((goal, index) => ({ id: index + 1, name: goal.value, ...goal })),
})

type Shape = Pick<Query, "metrics" | "groupings" | "order" | "limit" | "fillBuckets">

function queryOf(site: SiteFacts, report: Report, range: Range): Query {
  const conditions = report.filter.map(
    ([dimension, value]) => ({ op: "is", dimension, values: [value], missing: false, caseSensitive: true }) as const,
  )
  const named = { op: "not", filter: { op: "is", dimension: "event", values: ["pageview"], missing: false, caseSensitive: true } } as const
  const filters = report.ask.kind === "breakdown" && report.ask.by === "event" ? [...conditions, named] : conditions
  const filter = filters.length === 0 ? {} : { filter: { op: "and", filters } as const }
  return { site, range, timezone: "UTC", now: range.to, offset: 0, ...filter, ...shapeOf(report.ask) }
}

const byVisitors = [{ by: "metric", index: 0, descending: true }] as const
const byKey = [{ by: "grouping", index: 0, descending: false }] as const

function shapeOf(ask: Report["ask"]): Shape {
  if (ask.kind === "days") {
    const groupings = [{ by: "time", interval: "day" }] as const
    return { metrics: ["visitors", "visits", "pageviews"], groupings, order: byKey, limit: 1_000, fillBuckets: false }
  }
  if (ask.kind === "goals") {
    const groupings = [{ by: "dimension", dimension: "goal" }] as const
    return { metrics: ["visitors", "conversions"], groupings, order: byKey, limit: 1_000, fillBuckets: false }
  }
  if (ask.kind !== "breakdown") return { metrics: SUMMARY_METRICS, groupings: [], order: [], limit: 1, fillBuckets: false }
  const groupings = [{ by: "dimension", dimension: ask.by }] as const
  return { metrics: metricsBy(ask.by), groupings, order: byVisitors, limit: ROWS_SHOWN, fillBuckets: false }
}

function metricsBy(dimension: string): Query["metrics"] {
  if (dimension === "event") return ["visitors", "events"]
  if (dimension === "page") return ["visitors", "visits", "pageviews"]
  return ["visitors", "visits", "pageviews", "bounce_rate", "visit_duration"]
}
