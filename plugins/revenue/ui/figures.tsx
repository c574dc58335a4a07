import { Change, DataTable, exact, type Money, percent } from "#plugin/ui"
import type { Figures, ReportResponse } from "../report/responses.ts"
import { moneyText, ordersText, shortMoney, sizeOf } from "./money.ts"

type Part = Pick<ReportResponse, "currencies" | "base" | "visitors" | "conversion_rate" | "revenue_per_visitor">

/** Returns the figures that a page shows: of one currency, or of the converted total. */
export const shownFigures = (of: Part, currency: string): Figures | undefined =>
  of.base?.currency === currency ? of.base : of.currencies.find((one) => one.currency === currency)

/** Returns the change in percent. Undefined without anything before. */
export const changeOf = (now: number, before: number | undefined): number | undefined =>
  before === undefined || before === 0 ? undefined : ((now - before) / Math.abs(before)) * 100

/** The figures of one currency, with their changes. */
export function FigureStrip({ report, currency }: { report: ReportResponse; currency: string }) {
  const { comparison } = report
  const now = shownFigures(report, currency)
  const before = comparison && shownFigures(comparison, currency)
  const perVisitor = (of: Part) => of.revenue_per_visitor.find((one) => one.currency === currency)
  const amounts = [
    ["Gross", now?.gross, before?.gross],
    ["Refunds", now?.refunds, before?.refunds],
    ["Net", now?.net, before?.net],
  ] as const
  const others = [
    ["Average order", now?.aov ?? undefined, before?.aov ?? undefined],
    ["Per visitor", perVisitor(report), comparison && perVisitor(comparison)],
  ] as const
  return (
    <dl class="strip revenue-strip">
      {amounts.map(([label, value, old]) => (
        <Cell key={label} label={label} money={value} before={old} isCompared={comparison !== undefined} isGood={label !== "Refunds"} />
      ))}
      <div class="figure">
        <dt class="figure-label">Orders</dt>
        <dd class="figure-value">{ordersText(now?.orders ?? 0)}</dd>
        <dd class="figure-note">
          {comparison && <Change metric="conversions" change={changeOf(now?.orders ?? 0, before?.orders)} value={now?.orders} />}
          {now && now.refunded_orders > 0 && <span>{exact(now.refunded_orders)} refunded</span>}
        </dd>
      </div>
      {others.slice(0, 1).map(([label, value, old]) => (
        <Cell key={label} label={label} money={value} before={old} isCompared={comparison !== undefined} isGood />
      ))}
      <div class="figure">
        <dt class="figure-label">Conversion rate</dt>
        <dd class="figure-value">{report.visitors === 0 ? "–" : percent(report.conversion_rate)}</dd>
        <dd class="figure-note">
          {comparison && report.visitors > 0 && (
            <Change
              metric="conversion_rate"
              change={changeOf(report.conversion_rate, comparison.conversion_rate)}
              value={report.conversion_rate}
            />
          )}
          <span>{`of ${exact(report.visitors)}`}</span>
        </dd>
      </div>
      {others.slice(1).map(([label, value, old]) => (
        <Cell key={label} label={label} money={value} before={old} isCompared={comparison !== undefined} isGood />
      ))}
      <div class="figure">
        <dt class="figure-label">Customers</dt>
        <dd class="figure-value">{exact(now?.customers ?? 0)}</dd>
        <dd class="figure-note">
          {comparison && <Change metric="visitors" change={changeOf(now?.customers ?? 0, before?.customers)} value={now?.customers} />}
        </dd>
      </div>
    </dl>
  )
}

interface CellProps {
  label: string
  money: Money | undefined
  before: Money | undefined
  isCompared: boolean
  /** Whether more is better. */
  isGood: boolean
}

const Cell = ({ label, money, before, isCompared, isGood }: CellProps) => (
  <div class="figure">
    <dt class="figure-label">{label}</dt>
    <dd class="figure-value" title={money && moneyText(money)}>
      {money ? shortMoney(money) : "–"}
    </dd>
    <dd class="figure-note">
      {isCompared && money && (
        <Change metric={isGood ? "revenue" : ""} change={changeOf(sizeOf(money), before && sizeOf(before))} value={sizeOf(money)} />
      )}
    </dd>
  </div>
)

const orDash = (money: Money | null): string => (money ? moneyText(money) : "–")

/** Each currency on its own line, then the converted total. */
export function CurrencyTable({ report }: { report: ReportResponse }) {
  const { base } = report
  const rows = [
    ...report.currencies.map((one) => ({ ...one, name: one.currency })),
    ...(base ? [{ ...base, name: `All in ${base.currency}` }] : []),
  ]
  return (
    <DataTable
      stacks
      caption="Revenue by currency"
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        { id: "currency", label: "Currency", cell: ({ name }) => name },
        { id: "gross", label: "Gross", number: true, cell: ({ gross }) => moneyText(gross) },
        { id: "refunds", label: "Refunds", number: true, cell: ({ refunds }) => moneyText(refunds) },
        { id: "net", label: "Net", number: true, cell: ({ net }) => moneyText(net) },
        { id: "orders", label: "Orders", number: true, cell: ({ orders }) => ordersText(orders) },
        { id: "refunded", label: "Refunded", number: true, cell: ({ refunded_orders }) => exact(refunded_orders) },
        { id: "aov", label: "Average order", number: true, cell: ({ aov }) => orDash(aov) },
        { id: "net_per_order", label: "Net per order", number: true, cell: ({ net_per_order }) => orDash(net_per_order) },
        { id: "customers", label: "Customers", number: true, cell: ({ customers }) => exact(customers) },
      ]}
    />
  )
}
