import { Type as t } from "@sinclair/typebox"
import { AnyQuery, ArgumentReader, type Host, Instant, instantText, orNull, refuseArguments } from "#plugin"
import { Id, says } from "./shapes.ts"

const SlowQueryAnswer = t.Object(
  {
    at: Instant,
    kind: t.String({ description: "Kind of query, such as `summary`, `timeseries`, `breakdown`, `funnels` or `paths`." }),
    site_id: orNull(Id),
    range_days: orNull(t.Integer()),
    waited_ms: t.Integer(),
    took_ms: t.Integer({ description: "Time from arrival to end in milliseconds, including the wait." }),
    ending: t.String({ description: "Outcome: `answered`, `late` (timed out), `left` (the client disconnected) or `failed`." }),
  },
  { title: "SlowQuery" },
)

const SORTS = ["at", "took_ms"] as const
const HOUR_MS = 3_600_000

/** Routes of slow queries. They show site and number of days, but never the filters. */
export const slowQueryRoutes = (host: Host) => {
  const { slowQueries } = host.services.console
  return host.instanceRouter().get(
    "/admin/system/slow-questions",
    ({ query }) => {
      const reader = new ArgumentReader(query, ["sort"])
      const sort = reader.choice("sort", SORTS) ?? "at"
      refuseArguments(reader, "text")
      const queries = slowQueries.list()
      const since = host.now() - HOUR_MS
      const sorted = sort === "at" ? queries : queries.toSorted((a, b) => b.tookMs - a.tookMs)
      return { last_hour: queries.filter(({ at }) => at > since).length, data: sorted.map(answerOf) }
    },
    {
      instanceAdmin: true,
      query: AnyQuery,
      response: { 200: t.Object({ last_hour: t.Integer(), data: t.Array(SlowQueryAnswer) }) },
      detail: says("List the latest queries that took a second or more"),
    },
  )
}

type SlowQuery = ReturnType<Host["services"]["console"]["slowQueries"]["list"]>[number]

const answerOf = ({ at, kind, siteId, rangeDays, waitedMs, tookMs, ending }: SlowQuery) => ({
  at: instantText(at),
  kind,
  site_id: siteId ?? null,
  range_days: rangeDays ?? null,
  waited_ms: Math.round(waitedMs),
  took_ms: Math.round(tookMs),
  ending,
})
