/** The report's answer. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { CELL_STATES, type CellState, field, Money, orNull, PeopleIdentity, ReportImports, ReportRange, textOf } from "#plugin"
import type { Model } from "../packed/models.ts"
import { money } from "../transactions/responses.ts"

const CURRENCY = field.text("ISO 4217 code.")
const moneyOrNull = (description: string) => orNull(Money, { description })
const orders = (description: string) => t.Number({ minimum: 0, description })
const percent = (description: string) => t.Number({ description })
const percentOrNull = (description: string) => orNull(t.Number(), { description })

const FIGURES = {
  currency: CURRENCY,
  gross: money("Sum of sales."),
  refunds: money("Sum of refunds and disputes."),
  net: money("Gross minus refunds plus adjustments."),
  orders: orders("Number of sales."),
  refunded_orders: field.integer("Number of orders with a refund or dispute that is booked in the range."),
  aov: moneyOrNull("Average order value: gross divided by orders. null without orders."),
  net_per_order: moneyOrNull("Net divided by orders. null without orders."),
  customers: field.integer("Number of distinct visitors with a sale, plus one for each order without a visitor."),
  refund_rate: percent("Refunds divided by gross, in percent. 0 without sales."),
}
export const Figures = t.Object(FIGURES, { title: "RevenueFigures" })
export type Figures = Static<typeof Figures>

const MISSING = {
  currency: CURRENCY,
  amount: money("Net that has no rate."),
  gross: money("Sum of the sales among it."),
  refunds: money("Sum of the refunds and disputes among it."),
  adjustments: money("Sum of the adjustments among it."),
  orders: orders("Number of its sales."),
}
const Unconverted = t.Object(MISSING, { title: "UnconvertedRevenue" })

const Base = t.Object(
  {
    ...FIGURES,
    complete: field.flag("Whether every amount was converted."),
    unconverted: t.Array(Unconverted, { description: "Amounts without a rate, which are left out, by currency." }),
  },
  { title: "ConvertedRevenue", description: "All amounts in one currency. Present only if a currency was requested." },
)

const BOOKED = {
  currency: CURRENCY,
  gross: money("Sum of sales."),
  refunds: money("Sum of refunds and disputes."),
  net: money("Gross minus refunds plus adjustments."),
}

const Point = t.Object({
  time: field.text("Start of the bucket: a day, or a local date and time for hours."),
  partial: t.Optional(field.flag("Whether the bucket is still running or cut off by the range. Absent if not.")),
  by_currency: t.Array(t.Object({ ...BOOKED, orders: orders("Number of sales.") }), { description: "Figures by currency, 0 without any." }),
})

const Row = t.Object(
  {
    key: field.text("Value of the group. `(unattributed)` stands for sales whose visit is unknown."),
    label: t.Optional(field.text("Readable name of a key that is a code or an id. Absent for others.")),
    visitors: orNull(t.Integer(), { description: "Visitors of the group in the range. null where visitors have no such value." }),
    orders: orders("Number of sales that are credited to the group, in hundredths where they are shared."),
    conversion_rate: percentOrNull("Percentage of the group's visitors who have a sale in the range. null without visitors."),
    by_currency: t.Array(
      t.Object({
        ...BOOKED,
        orders: orders("Number of the currency's sales, in hundredths where they are shared."),
        aov: moneyOrNull("Gross divided by orders. null without orders."),
        share: percent("Percentage of the currency's gross."),
      }),
      { description: "Figures by currency. Currencies without amounts are left out." },
    ),
  },
  { title: "RevenueRow" },
)
export type Row = Static<typeof Row>

const PART = {
  range: ReportRange,
  currencies: t.Array(Figures, { description: "Figures of each currency, those with most orders first. Currencies are never added." }),
  base: t.Optional(Base),
  visitors: field.integer("Visitors in the range."),
  conversion_rate: percent("Percentage of the visitors who have a sale in the range. 0 without visitors."),
  revenue_per_visitor: t.Array(money("Net divided by visitors."), { description: "By currency. Empty without visitors." }),
  timeseries: t.Array(Point, { description: "Buckets of the range in order, including those without transactions." }),
  breakdown: t.Array(Row, { description: "Groups, those with the highest net first." }),
}

const Comparison = t.Object(PART, {
  title: "ComparedRevenue",
  description: "The compared range, with the groups of the report. Present only with `compare`.",
})

const Attribution = t.Object(
  {
    model: textOf<Model>({ description: "`last_touch`, `last_touch_direct`, `first_touch` or `linear`." }),
    lookback: t.Object(
      {
        asked: field.integer("Days before a sale in which visits can be credited, by the settings."),
        effective: field.integer("Days for which every visitor with a transaction in the range is recognized, at most `asked`."),
        reason: t.Optional(
          textOf<"rotating_visitor_ids" | "expiring_device_ids">({
            description: "Why fewer days are effective: `rotating_visitor_ids` or `expiring_device_ids`. Absent if all are.",
          }),
        ),
      },
      { description: "How far back visits are credited." },
    ),
    unattributed: t.Array(
      t.Object({ currency: CURRENCY, net: money("Net without a visit."), orders: orders("Number of sales without a visit.") }),
      { description: "Transactions whose visit is unknown, by currency." },
    ),
  },
  { title: "RevenueAttribution", description: "How transactions are credited to visits." },
)

const Cell = t.Object({
  period: field.integer("Number of the period, 0 for that of the first purchase."),
  state: textOf<CellState>({ description: `One of ${CELL_STATES.join(", ")}.` }),
  by_currency: orNull(t.Array(t.Object({ currency: CURRENCY, net: money("Net of the period."), orders: orders("Number of sales.") })), {
    description: "Figures by currency. null if they are not known or not shown.",
  }),
})
const Cohort = t.Object(
  {
    cohort: field.text("First day of the period of the first purchase."),
    size: orNull(t.Integer(), { description: "Number of people. null if the group is too small to be shown." }),
    cells: t.Array(Cell, { description: "One for each period." }),
  },
  { title: "RevenueCohort" },
)
export type Cohort = Static<typeof Cohort>

const VisitorWindow = textOf<"day" | "week" | "month" | "identified" | "persistent" | "mixed">({
  description: "Period within which a visitor is counted once: `day`, `week`, `month`, `identified`, `persistent` or `mixed`.",
})

export const ReportResponse = t.Object(
  {
    ...PART,
    interval: field.text("Size of the buckets."),
    currency: field.text("`each`, or the currency to which amounts are converted."),
    group_by: field.text("What the groups of `breakdown` are."),
    refund_basis: textOf<"refund_date" | "order_date">({
      description: "Day on which refunds are booked: their own, or that of their order.",
    }),
    trust: textOf<"all" | "verified">({ description: "`verified` if amounts that only a browser or an import reported are left out." }),
    unverified: field.flag("Whether the figures include amounts that only a browser or an import reported."),
    recurring: t.Optional(textOf<"first" | "renewal">({ description: "Subscription payments that were requested. Absent for all." })),
    attribution: Attribution,
    cohorts: t.Optional(t.Array(Cohort, { description: "Revenue by period of the first purchase. Present only with `cohort_by`." })),
    comparison: t.Optional(Comparison),
    recomputing: field.flag("Whether attribution is being recomputed after a change of the settings."),
    meta: t.Object(
      {
        visitor_window: t.Optional(VisitorWindow),
        imports: t.Optional(ReportImports),
        visitors_estimated: t.Optional(field.flag("Present and true if daily visitors of imported totals were added up.")),
        identity: t.Optional(PeopleIdentity),
        notes: field.texts("Notes on the result, in English."),
        rate_missing: t.Optional(
          t.Object(
            {
              days: t.Array(t.Object({ day: field.text("Day of the sale."), ...MISSING }), {
                description: "Days and currencies without a rate, at most 100.",
              }),
              total: field.integer("Number of such days and currencies."),
            },
            { description: "Amounts without a rate. Present only if one could not be converted." },
          ),
        ),
      },
      { description: "What is needed to read the figures." },
    ),
  },
  { title: "RevenueReport" },
)
export type ReportResponse = Static<typeof ReportResponse>

export const ProductsResponse = t.Object(
  {
    range: ReportRange,
    group_by: textOf<"sku" | "name" | "category">({ description: "What the rows are: `sku`, `name` or `category`." }),
    data: t.Array(
      t.Object({
        key: field.text("Value of the items. `(none)` holds what no item states."),
        quantity: field.integer("Number of sold items."),
        gross: money("Sum of the items of sales."),
        refunds: money("Sum of the items of refunds and disputes."),
        orders: field.integer("Number of sales with such an item."),
        currency: CURRENCY,
      }),
      { description: "Rows, those with the highest gross first." },
    ),
    has_more: field.flag("Whether there are more rows than `limit`."),
  },
  { title: "RevenueProducts" },
)
export type ProductsResponse = Static<typeof ProductsResponse>
