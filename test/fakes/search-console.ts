import type { Google } from "./google.ts"

/** How the fake API behaves until the next change. */
export type SearchScenario =
  | "ok"
  | "token_expired"
  | "quota_429"
  | "quota_403"
  | "403_property"
  | "api_disabled"
  | "scope_missing"
  | "500"
  | "slow"
  | "cut"
  | "malformed"
  | "wrong_types"
  | "foreign_day"

/** Impressions of one query and page in one country on one device. */
export interface SearchRecord {
  day: string
  type?: string
  query?: string
  page?: string
  country?: string
  device?: string
  clicks: number
  impressions: number
  position: number
  /** Whether the record is too rare to be part of answers by query or page. */
  isWithheld?: boolean
}

interface Query {
  startDate: string
  endDate: string
  dimensions: string[]
  type: string
  rowLimit: number
  startRow: number
  dataState: string
}

export interface SearchConsole {
  scenario: SearchScenario
  /** Value of `Retry-After` in the scenarios of quotas. */
  retryAfter: string | undefined
  properties: { siteUrl: string; permissionLevel: string }[]
  records: SearchRecord[]
  /** Answers a query instead of `records`, such as with many rows. */
  rows: ((query: Query, property: string) => object[]) | undefined
  /** First day that may still change. */
  firstIncomplete: string | undefined
  queries: (Query & { property: string })[]
  /** Runs before each answer to a query, which waits for it. */
  onQuery: ((query: Query) => unknown) | undefined
  /** Accounts as the Google Analytics Admin API lists them. */
  accountSummaries: object[]
}

const SCOPE = "https://www.googleapis.com/auth/webmasters.readonly"
const ANALYTICS = "https://www.googleapis.com/auth/analytics.readonly"

/** Adds the Search Console API, and the list of Analytics properties, to the fake. */
export function searchConsole(google: Google): SearchConsole {
  const expired = new Set<string>()

  function refused(request: Request): Response | undefined {
    const token = request.headers.get("authorization") ?? ""
    if (fake.scenario === "token_expired" && expired.size === 0) expired.add(token)
    if (expired.has(token) || !google.scopesOf(request)) return failure(401, "UNAUTHENTICATED", "authError")
    const wait = fake.retryAfter === undefined ? {} : { "retry-after": fake.retryAfter }
    switch (fake.scenario) {
      case "quota_429":
        return failure(429, "RESOURCE_EXHAUSTED", "rateLimitExceeded", wait)
      case "quota_403":
        return failure(403, "PERMISSION_DENIED", "quotaExceeded", wait)
      case "403_property":
        return failure(403, "PERMISSION_DENIED", "forbidden")
      case "api_disabled":
        return failure(403, "PERMISSION_DENIED", "accessNotConfigured")
      case "scope_missing":
        return failure(403, "PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT")
      case "500":
        return new Response("broken", { status: 500 })
      case "malformed":
        return new Response("<html>", { headers: { "content-type": "application/json" } })
      default:
        return undefined
    }
  }

  async function answer(request: Request, url: URL): Promise<Response | undefined> {
    if (url.pathname === "/v1beta/accountSummaries") {
      if (!google.scopesOf(request)?.includes(ANALYTICS)) return failure(403, "PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT")
      return Response.json({ accountSummaries: fake.accountSummaries })
    }
    if (!url.pathname.startsWith("/webmasters/v3/sites")) return undefined
    const refusal = refused(request)
    if (refusal) return refusal
    if (!google.scopesOf(request)!.includes(SCOPE)) return failure(403, "PERMISSION_DENIED", "insufficientPermissions")
    if (url.pathname === "/webmasters/v3/sites") return Response.json(fake.properties.length === 0 ? {} : { siteEntry: fake.properties })
    const property = decodeURIComponent(url.pathname.split("/")[4]!)
    if (!fake.properties.some(({ siteUrl }) => siteUrl === property)) return failure(403, "PERMISSION_DENIED", "forbidden")
    const query = (await request.json()) as Query
    fake.queries.push({ ...query, property })
    await fake.onQuery?.(query)
    return data(query, property)
  }

  async function data(query: Query, property: string): Promise<Response> {
    const all = fake.rows ? fake.rows(query, property) : rowsOf(fake.records, query)
    const rows = all.slice(query.startRow, query.startRow + query.rowLimit)
    const metadata = fake.firstIncomplete === undefined ? {} : { metadata: { first_incomplete_date: fake.firstIncomplete } }
    if (fake.scenario === "slow") await Bun.sleep(60_000)
    if (fake.scenario === "cut") return new Response(JSON.stringify({ rows }).slice(0, 20))
    if (fake.scenario === "wrong_types")
      return Response.json({ rows: [{ keys: [query.startDate], clicks: "3", impressions: -1, position: null }] })
    if (fake.scenario === "foreign_day") return Response.json({ rows: [{ keys: ["2020-01-01"], clicks: 1, impressions: 1, position: 1 }] })
    // Without rows, the answer has no list.
    return Response.json({ ...(rows.length > 0 && { rows }), responseAggregationType: "auto", ...metadata })
  }

  const fake: SearchConsole = {
    scenario: "ok",
    retryAfter: undefined,
    properties: [{ siteUrl: "sc-domain:shop.example", permissionLevel: "siteOwner" }],
    records: [],
    rows: undefined,
    firstIncomplete: undefined,
    queries: [],
    onQuery: undefined,
    accountSummaries: [],
  }
  google.api(answer)
  Object.assign(google.settings, { gsc_api_base: google.origin, ga4_admin_api_base: google.origin })
  return fake
}

/** Groups records as the API does: positions are means weighted by impressions, and rows with more clicks come first. */
function rowsOf(records: readonly SearchRecord[], { startDate, endDate, dimensions, type }: Query): object[] {
  const isRare = dimensions.includes("query") || dimensions.includes("page")
  const groups = new Map<string, { keys: string[]; clicks: number; impressions: number; sum: number }>()
  for (const record of records) {
    if (record.day < startDate || record.day > endDate || (record.type ?? "web") !== type || (isRare && record.isWithheld)) continue
    const values: Record<string, string> = {
      date: record.day,
      query: record.query ?? "footfall",
      page: record.page ?? "https://shop.example/",
      country: record.country ?? "deu",
      device: record.device ?? "DESKTOP",
    }
    const keys = dimensions.map((name) => values[name]!)
    const group = groups.get(keys.join("\n")) ?? { keys, clicks: 0, impressions: 0, sum: 0 }
    groups.set(keys.join("\n"), group)
    group.clicks += record.clicks
    group.impressions += record.impressions
    group.sum += record.position * record.impressions
  }
  return [...groups.values()]
    .sort((a, b) => b.clicks - a.clicks)
    .map(({ keys, clicks, impressions, sum }) => ({ keys, clicks, impressions, ctr: clicks / impressions, position: sum / impressions }))
}

const failure = (code: number, status: string, reason: string, headers: Record<string, string> = {}): Response =>
  Response.json(
    { error: { code, status, message: "The fake refuses.", errors: [{ reason, domain: "global" }] } },
    { status: code, headers },
  )
