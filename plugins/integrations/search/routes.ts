import {
  AnyQuery,
  csvLine,
  etagOf,
  failures,
  NoQuery,
  operationsOf,
  parameter,
  queryWith,
  type ReportOptions,
  readNothing,
  Sent,
  type Site,
} from "#plugin"
import { authorOf, type IntegrationsHost } from "../area.ts"
import type { Integrations } from "../lifecycle.ts"
import { IntegrationResponse } from "../responses.ts"
import { GOOGLE_KINDS, type GoogleAccounts } from "./google.ts"
import { MappingInput } from "./input.ts"
import type { Mappings } from "./mapping.ts"
import type { ReportCall } from "./report.ts"
import { DEVICES, GROUPS, SORTS } from "./request.ts"
import { PropertiesResponse, SearchReport, SyncResponse } from "./responses.ts"
import { ENGINES, SEARCH_TYPES } from "./search-type.ts"

const operation = operationsOf("integrations")

/** Routes of the accounts at Google: the end of a request for access, properties, the mapping of a site and its run. */
export function googleRoutes(host: IntegrationsHost, accounts: GoogleAccounts, mappings: Mappings, integrations: Integrations) {
  const properties = GOOGLE_KINDS.map((google) =>
    host
      .siteRouter()
      .get(`/integrations/${google.kind}/properties`, async ({ site }) => ({ data: await accounts.listProperties(site, google) }), {
        can: "integrations:write",
        query: NoQuery,
        response: { 200: PropertiesResponse },
        detail: {
          ...operation(`List the properties of the connected accounts of ${google.name}`),
          ...failures("not_connected", "needs_reauth", "scope_not_granted", "connection_failed", "outbound_disabled"),
        },
      }),
  )
  const callback = host.instanceRouter().get(
    "/integrations/oauth/callback",
    async ({ request, user, session, actor }) => {
      const query = new URL(request.url).searchParams
      const location = await accounts.finish(query, { userId: user.id, sessionId: session.id, actor })
      return new Response(null, { status: 303, headers: { location } })
    },
    {
      self: true,
      query: AnyQuery,
      detail: {
        ...operation("Complete a request for access, and return to the page that started it"),
        ...failures("invalid_oauth_state", "forbidden"),
        responses: { 303: { description: "Redirect to the page, with the parameter `result`." } },
      },
    },
  )
  const mapping = host
    .siteRouter()
    .put(
      "/integrations/search-console/mapping",
      async ({ body, set, permissions, ...call }) => {
        const viewer = { site: call.site, user: call.user, permissions }
        const integration = await mappings.put(authorOf(call), body.value, (present) => integrations.show(present, viewer))
        set.headers.etag = etagOf(integration)
        return integrations.show(integration, viewer)
      },
      {
        can: "integrations:write",
        query: NoQuery,
        body: Sent,
        response: { 200: IntegrationResponse },
        detail: {
          ...operation("Map a property in Search Console to the site", MappingInput),
          ...failures(
            ...["property_not_verified", "needs_reauth", "scope_not_granted", "connection_failed", "outbound_disabled"],
            ...["version_conflict", "precondition_failed"],
          ),
        },
      },
    )
    .post(
      "/integrations/search-console/sync",
      async ({ status, ...call }) => {
        const { id, state } = await mappings.sync(authorOf(call))
        return status(202, { job: { id, state } })
      },
      {
        can: { permission: "integrations:write", read: readNothing },
        query: NoQuery,
        response: { 202: SyncResponse },
        detail: { ...operation("Fetch search data now"), ...failures("not_connected", "needs_reauth", "outbound_disabled") },
      },
    )
  return [callback, ...properties, mapping]
}

const REPORT = {
  period: parameter.text("Period, such as `28d` or `last_month`. Default: `30d`."),
  from: parameter.text("First day, as YYYY-MM-DD. Needs `to`, and wins over `period`."),
  to: parameter.text("Last day (inclusive), as YYYY-MM-DD."),
  group_by: parameter.choice(GROUPS, "Dimension by which results are grouped. Default: `query`."),
  page: parameter.text("Only this page, as a full URL."),
  query: parameter.text("Only this query."),
  country: parameter.text("Only this country, as ISO 3166-1 alpha-2."),
  device: parameter.choice(DEVICES, "Only this class of devices."),
  search_type: parameter.choice(SEARCH_TYPES, "Search type. Default: `web`."),
  engine: parameter.choice(ENGINES, "Search engine. Default: `google`."),
  sort: parameter.choice(SORTS, "Figure by which rows are sorted. Default: `clicks`, for days `key`."),
  order: parameter.choice(["desc", "asc"], "Direction. Default: best first, days ascending."),
}
const FAILURES = failures("not_connected", "query_timeout")

interface Call {
  user: { id: number }
  request: Request
}
const optionsOf = ({ user, request }: Call): ReportOptions => ({ form: "text", userId: user.id, signal: request.signal })

/** Routes of the report on search results. */
export const reportRoutes = (host: IntegrationsHost, report: ReportCall) =>
  host
    .siteRouter()
    .get("/search-console/report", ({ site, query, ...call }) => report(site, query, optionsOf(call)), {
      can: "site:read",
      query: queryWith(REPORT),
      response: { 200: SearchReport },
      detail: { ...operation("Report clicks, impressions and positions in search results"), ...FAILURES },
    })
    .get(
      "/search-console/report.csv",
      async ({ site, query, ...call }) => file(site, await report(site, query, { ...optionsOf(call), isWhole: true })),
      {
        can: { permission: "site:read", also: ["export:read"] },
        query: queryWith(REPORT),
        detail: {
          ...operation("Download all rows of the search report as CSV"),
          ...FAILURES,
          responses: { 200: { description: "All rows of the report.", content: { "text/csv": { schema: { type: "string" } } } } },
        },
      },
    )

const COLUMNS = ["key", "clicks", "impressions", "ctr", "position"] as const
/** Rows that are written together. */
const BATCH = 500

function file(site: Site, { rows, range }: SearchReport): Response {
  const utf8 = new TextEncoder()
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(utf8.encode(`${COLUMNS.join(",")}\r\n`)),
    pull(controller) {
      const slice = rows.slice(at, at + BATCH)
      at += BATCH
      const lines = slice.map((row) => csvLine(COLUMNS.map((name) => row[name] ?? "")))
      if (lines.length > 0) controller.enqueue(utf8.encode(lines.join("")))
      if (at >= rows.length) controller.close()
    },
  })
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="search-${site.id}-${range.from}-${range.to}.csv"`,
    },
  })
}
