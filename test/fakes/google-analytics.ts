import type { Google } from "./google.ts"

/** How the fake of the Google Analytics Data API behaves until the next change. */
export type AnalyticsScenario = "ok" | "quota_429" | "403_property" | "api_disabled" | "token_expired" | "500" | "slow" | "malformed"

/** A row of a report: values by the names of the API, dates as `20260131`. */
export type AnalyticsRow = Readonly<Record<string, string>>

export interface AnalyticsData {
  scenario: AnalyticsScenario
  /** The number of requests that are answered before the scenario applies. Default: 0. */
  after: number
  /** Reports that were requested. */
  requests: AnalyticsRequest[]
  /** Members of the metadata of each report. */
  metadata: Record<string, unknown>
  /** Answers a request for a report. To be used with `Google.api`. */
  answer(request: Request, url: URL): Promise<Response> | undefined
}

export interface AnalyticsRequest {
  property: string
  from: string
  to: string
  dimensions: string[]
  metrics: string[]
  limit: number
  offset: number
}

interface Body {
  dateRanges: { startDate: string; endDate: string }[]
  dimensions: { name: string }[]
  metrics: { name: string }[]
  orderBys?: { dimension: { dimensionName: string } }[]
  limit: string
  offset: string
}

const SCOPE = "https://www.googleapis.com/auth/analytics.readonly"

/**
 * Creates the fake of `POST /v1beta/properties/<id>:runReport`: it checks token and scope, and answers from rows by the dimensions of the
 * request, in its date range, order and page. `rows` are keyed by the dimensions after `date`, separated by commas.
 */
export function analyticsData(
  fake: Pick<Google, "scopesOf">,
  { property, rows, today }: { property: string; rows: Readonly<Record<string, readonly AnalyticsRow[]>>; today: string },
): AnalyticsData {
  const compact = (day: string): string => dayOf(day, today).replaceAll("-", "")

  async function report(request: Request, name: string): Promise<Response> {
    const body = (await request.json()) as Body
    const [range] = body.dateRanges
    const dimensions = body.dimensions.map((one) => one.name)
    const metrics = body.metrics.map((one) => one.name)
    const [limit, offset] = [Number(body.limit), Number(body.offset)]
    data.requests.push({ property: name, from: range!.startDate, to: range!.endDate, dimensions, metrics, limit, offset })
    const scenario = data.requests.length > data.after ? data.scenario : "ok"
    if (scenario === "slow") await Bun.sleep(500)
    if (!fake.scopesOf(request)?.includes(SCOPE) || scenario === "token_expired") return refusal(401, "UNAUTHENTICATED")
    if (scenario === "quota_429") return refusal(429, "RESOURCE_EXHAUSTED")
    if (scenario === "500") return refusal(500, "INTERNAL")
    if (scenario === "api_disabled") return refusal(403, "PERMISSION_DENIED", "SERVICE_DISABLED")
    if (scenario === "403_property" || name !== property) return refusal(403, "PERMISSION_DENIED")
    if (scenario === "malformed") return new Response("<html>", { headers: { "content-type": "application/json" } })
    if (dimensions[0] !== "date" || limit > 250_000) return refusal(400, "INVALID_ARGUMENT")
    const known = rows[dimensions.slice(1).join(",")] ?? []
    const [from, to] = [compact(range!.startDate), compact(range!.endDate)]
    const found = known.filter((row) => row.date! >= from && row.date! <= to)
    // Without an order, Google's rows come in none.
    const order = body.orderBys?.map((one) => one.dimension.dimensionName) ?? []
    const sorted = order.length > 0 ? found.toSorted(by(order)) : found.toReversed()
    const page = sorted.slice(offset, offset + limit)
    return Response.json({
      dimensionHeaders: dimensions.map((one) => ({ name: one })),
      metricHeaders: metrics.map((one) => ({ name: one, type: "TYPE_INTEGER" })),
      ...(page.length > 0 && {
        rows: page.map((row) => ({
          dimensionValues: dimensions.map((one) => ({ value: row[one] ?? "(not set)" })),
          metricValues: metrics.map((one) => ({ value: row[one] ?? "0" })),
        })),
      }),
      rowCount: found.length,
      metadata: { currencyCode: "EUR", timeZone: "America/New_York", ...data.metadata },
      kind: "analyticsData#runReport",
    })
  }

  const data: AnalyticsData = {
    scenario: "ok",
    after: 0,
    requests: [],
    metadata: {},
    answer(request, url) {
      const [, name] = /^\/v1beta\/(properties\/\d+):runReport$/.exec(url.pathname) ?? []
      return name === undefined || request.method !== "POST" ? undefined : report(request, name)
    },
  }
  return data
}

const DAY_MS = 86_400_000
/** Returns the day that a request names. */
const dayOf = (day: string, today: string): string =>
  day === "today" ? today : day === "yesterday" ? new Date(Date.parse(today) - DAY_MS).toISOString().slice(0, 10) : day

const by =
  (names: readonly string[]) =>
  (a: AnalyticsRow, b: AnalyticsRow): number => {
    const name = names.find((one) => a[one] !== b[one])
    return name === undefined ? 0 : (a[name] ?? "") < (b[name] ?? "") ? -1 : 1
  }

const refusal = (code: number, status: string, reason?: string): Response =>
  Response.json(
    { error: { code, status, message: "The fake refuses.", ...(reason !== undefined && { details: [{ reason }] }) } },
    { status: code },
  )
