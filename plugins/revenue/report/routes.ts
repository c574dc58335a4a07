import { csvLine, failures, parameter, queryWith, type ReportOptions, type Site } from "#plugin"
import { operation } from "../area.ts"
import type { RevenueHost } from "../host.ts"
import { MODEL_NAMES } from "../packed/models.ts"
import { REFUND_BASES } from "../settings.ts"
import type { createProducts } from "./products.ts"
import type { Report } from "./report.ts"
import { GROUPS } from "./request.ts"
import { ProductsResponse, ReportResponse } from "./responses.ts"

const READ = "revenue:read"

const RANGE = {
  period: parameter.text("Period, such as `28d` or `last_month`. Default: `30d`."),
  from: parameter.text("First day, as YYYY-MM-DD. Needs `to`, and wins over `period`."),
  to: parameter.text("Last day (inclusive), as YYYY-MM-DD."),
  filters: parameter.text("Filters on what transactions keep of their visit, and on cohorts, as a JSON string."),
  imports: parameter.choice(["true", "false"], "Whether imported totals count as visitors. Default: true."),
  attribution: parameter.choice(MODEL_NAMES, "Which visits are credited with a sale. Default: `last_touch`."),
  recurring: parameter.choice(["first", "renewal"], "Only subscription payments of this kind."),
  trust: parameter.choice(
    ["all", "verified"],
    "`verified` leaves out what only a browser or an import reported. Default: the site's setting.",
  ),
  refund_basis: parameter.choice(REFUND_BASES, "Day on which refunds are booked. Default: the site's setting."),
  currency: parameter.text(
    "`each` for each currency on its own, `base` for the site's base currency, or an ISO 4217 code. Default: `each`.",
  ),
  limit: parameter.number(1, 500, "Number of groups. Default: 50."),
}
const REPORT = {
  ...RANGE,
  interval: parameter.choice(["auto", "hour", "day", "week", "month"], "Size of the buckets. Default: `auto`."),
  compare: parameter.choice(["none", "previous_period", "previous_year", "custom"], "Range to compare with. Default: `none`."),
  compare_from: parameter.text("First day of the compared range, with `compare=custom`."),
  compare_to: parameter.text("Last day of the compared range, with `compare=custom`."),
  match_weekday: parameter.choice(["true", "false"], "Whether the compared range starts on the same weekday. Default: false."),
  group_by: parameter.choice(GROUPS, "What the groups of the breakdown are. Default: `source`."),
  cohort_by: parameter.choice(["day", "week", "month"], "Adds revenue by period of the first purchase."),
  periods: parameter.number(1, 90, "Periods of each cohort: at most 90 days, 53 weeks or 36 months. Default: 12."),
}

const FAILURES = failures("query_timeout", "identity_insufficient", "broken_reference")

/** Routes of the report and of products. */
export function reportRoutes(host: RevenueHost, report: Report, products: ReturnType<typeof createProducts>) {
  return host
    .siteRouter()
    .get("/revenue/report", ({ site, query: given, ...call }) => report(site, given, optionsOf(call)), {
      can: READ,
      query: queryWith(REPORT),
      response: { 200: ReportResponse },
      detail: { ...operation("Report revenue, refunds and orders"), ...FAILURES },
    })
    .get(
      "/revenue/report.csv",
      async ({ site, query: given, ...call }) => file(site, await report(site, given, { ...optionsOf(call), isWhole: true })),
      {
        can: { permission: READ, also: ["export:read"] },
        query: queryWith(REPORT),
        detail: {
          ...operation("Download all groups of the revenue report as CSV"),
          ...FAILURES,
          responses: {
            200: {
              description: "All groups of the report, one line for each currency. Totals are left out, so that lines can be added up.",
              content: { "text/csv": { schema: { type: "string" } } },
            },
          },
        },
      },
    )
    .get("/revenue/products", ({ site, query: given, ...call }) => products(site, given, optionsOf(call)), {
      can: READ,
      query: queryWith({ ...RANGE, group_by: parameter.choice(["sku", "name", "category"], "What the rows are. Default: `name`.") }),
      response: { 200: ProductsResponse },
      detail: { ...operation("List sold products"), ...FAILURES },
    })
}

interface Call {
  user: { id: number }
  permissions: ReadonlySet<string>
  request: Request
}

const optionsOf = ({ user, permissions, request }: Call): ReportOptions => ({
  form: "text",
  userId: user.id,
  seesPeople: permissions.has("people:read"),
  signal: request.signal,
})

const COLUMNS = ["key", "label", "visitors", "conversion_rate", "currency", "orders", "gross", "refunds", "net", "aov", "share"] as const

/** Rows that are written to a CSV file together. */
const BATCH = 500

/** Streams the groups of a report, one line for each currency. */
function file(site: Site, { breakdown, range }: ReportResponse): Response {
  const utf8 = new TextEncoder()
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(utf8.encode(`${COLUMNS.join(",")}\r\n`)),
    pull(controller) {
      const rows = breakdown.slice(at, at + BATCH)
      at += rows.length
      if (rows.length > 0) controller.enqueue(utf8.encode(rows.map(linesOf).join("")))
      if (at >= breakdown.length) controller.close()
    },
  })
  const headers = {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="revenue-${site.id}-${range.from}-${range.to}.csv"`,
  }
  return new Response(body, { headers })
}

/** Amounts are decimal numbers, which are written as they are: as texts, negative ones would be marked as formulas. */
function linesOf({ key, label, visitors, conversion_rate, by_currency }: ReportResponse["breakdown"][number]): string {
  return by_currency
    .map(({ currency, orders, gross, refunds, net, aov, share }) => {
      const named = csvLine([key, label, visitors ?? undefined, conversion_rate ?? undefined, currency, orders]).trimEnd()
      return `${[named, ...[gross, refunds, net, aov].map((money) => money?.amount ?? ""), share].join(",")}\r\n`
    })
    .join("")
}
