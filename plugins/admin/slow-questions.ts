import { Type as t } from "@sinclair/typebox"
import { AnyQuery, ArgumentReader, type Host, Instant, instantText, orNull, refuseArguments } from "#plugin"
import { Id, says } from "./shapes.ts"

const SlowQuestionShown = t.Object(
  {
    at: Instant,
    kind: t.String({ description: "Kind of query, such as `summary`, `timeseries`, `breakdown`, `funnels` or `paths`." }),
    site_id: orNull(Id),
    range_days: orNull(t.Integer()),
    waited_ms: t.Integer(),
    took_ms: t.Integer({ description: "Time from arrival to end in milliseconds, including the wait." }),
    ending: t.String({ description: "Outcome: `answered`, `late` (timed out), `left` (the client disconnected) or `failed`." }),
  },
  { title: "SlowQuestion" },
)

const SORTS = ["at", "took_ms"] as const
const HOUR_MS = 3_600_000

/** Which reports took long: on which site and over how many days, and nothing of what they filtered by. */
export const slowQuestionRoutes = (host: Host) => {
  const { slowQuestions } = host.services.console
  return host.instanceRouter().get(
    "/admin/system/slow-questions",
    ({ query }) => {
      const reader = new ArgumentReader(query, ["sort"])
      const sort = reader.choice("sort", SORTS) ?? "at"
      refuseArguments(reader, "text")
      const kept = slowQuestions.list()
      const since = host.now() - HOUR_MS
      const sorted = sort === "at" ? kept : kept.toSorted((a, b) => b.tookMs - a.tookMs)
      return { last_hour: kept.filter(({ at }) => at > since).length, data: sorted.map(shown) }
    },
    {
      instanceAdmin: true,
      query: AnyQuery,
      response: { 200: t.Object({ last_hour: t.Integer(), data: t.Array(SlowQuestionShown) }) },
      detail: says("List the latest queries that took a second or more"),
    },
  )
}

type Kept = ReturnType<Host["services"]["console"]["slowQuestions"]["list"]>[number]

const shown = ({ at, kind, siteId, rangeDays, waitedMs, tookMs, ending }: Kept) => ({
  at: instantText(at),
  kind,
  site_id: siteId ?? null,
  range_days: rangeDays ?? null,
  waited_ms: Math.round(waitedMs),
  took_ms: Math.round(tookMs),
  ending,
})
