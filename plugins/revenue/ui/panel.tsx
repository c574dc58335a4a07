import { Change, EmptyState, rangeText, type WidgetPanelProps } from "#plugin/ui"
import type { ReportResponse } from "../report/responses.ts"
import { barsOf, RevenueChart } from "./chart.tsx"
import { changeOf, shownFigures } from "./figures.tsx"
import { groupName, moneyText, ordersText, shortMoney, sizeOf, unconvertedText } from "./money.ts"

type Answer = Omit<ReportResponse, "meta">

/** Currencies of which a panel shows the figures. The chart and the groups are in the first one. */
const MAX_CURRENCIES = 3

/** Revenue on a dashboard: net with gross, refunds and orders, the course over time, and groups if the widget has some. */
export default function RevenuePanel({ data, config, title }: WidgetPanelProps) {
  const report = data as Answer // the answer of this type of widget
  const currencies = report.base ? [report.base.currency] : report.currencies.map(({ currency }) => currency)
  const [first] = currencies
  if (first === undefined || report.currencies.length === 0) return <EmptyState>No revenue in this period.</EmptyState>
  const more = currencies.length - MAX_CURRENCIES
  return (
    <div class="revenue-panel">
      {currencies.slice(0, MAX_CURRENCIES).map((currency) => (
        <Line key={currency} report={report} currency={currency} />
      ))}
      {more > 0 && <p class="small quiet">{`and ${more} more ${more === 1 ? "currency" : "currencies"}`}</p>}
      {report.base && !report.base.complete && (
        <p class="small quiet">
          Without {report.base.unconverted.map(unconvertedText).join(", ")}: no exchange rate to {first}.
        </p>
      )}
      {config.chart !== false && (
        <RevenueChart bars={barsOf(report, first)} interval={report.interval} isCompared={report.comparison !== undefined} isCompact />
      )}
      {report.breakdown.length > 0 && <Groups report={report} currency={first} title={title} />}
    </div>
  )
}

/** The figures of one currency. */
function Line({ report, currency }: { report: Answer; currency: string }) {
  const now = shownFigures(report, currency)
  if (!now) return null
  const { comparison } = report
  const before = comparison && shownFigures(comparison, currency)
  const change = changeOf(sizeOf(now.net), before && sizeOf(before.net))
  const refunded = sizeOf(now.refunds) > 0 && `${moneyText(now.refunds)} refunds`
  return (
    <div>
      <div class="metric-line">
        <span class="figure-value" title={moneyText(now.net)}>
          {shortMoney(now.net)}
        </span>
        {comparison && (
          <span class="small" title={`Compared with ${rangeText(comparison.range.from, comparison.range.to)}`}>
            <Change metric="revenue" change={change} value={sizeOf(now.net)} />
          </span>
        )}
      </div>
      <p class="small quiet">
        {["Net", `${moneyText(now.gross)} gross`, refunded, `${ordersText(now.orders)} ${now.orders === 1 ? "order" : "orders"}`]
          .filter(Boolean)
          .join(" · ")}
      </p>
    </div>
  )
}

/** Groups with their net, as bars. */
function Groups({ report: { breakdown, group_by }, currency, title }: { report: Answer; currency: string; title: string }) {
  const rows = breakdown.flatMap((row) => {
    const figures = row.by_currency.find((one) => one.currency === currency)
    return figures ? [{ row, net: figures.net, orders: figures.orders }] : []
  })
  const most = Math.max(1, ...rows.map(({ net }) => sizeOf(net)))
  return (
    <ul class="groups" aria-label={title}>
      {rows.map(({ row, net, orders }) => (
        <li key={row.key}>
          <span>{groupName(group_by, row)}</span>
          <span class="groups-track">
            <span class="groups-bar" style={{ width: `${Math.max(0, (100 * sizeOf(net)) / most)}%` }} />
          </span>
          <strong title={moneyText(net)}>{shortMoney(net)}</strong>
          <span class="small quiet">{`${ordersText(orders)} ${orders === 1 ? "order" : "orders"}`}</span>
        </li>
      ))}
    </ul>
  )
}
