import { useId, useState } from "preact/hooks"
import { dayText, type Money } from "#plugin/ui"
import type { ReportResponse } from "../report/responses.ts"
import { moneyText, ordersText, shortMoney, sizeOf } from "./money.ts"

/** A bucket of the chart in one currency. */
export interface Bar {
  time: string
  partial: boolean
  gross: Money
  refunds: Money
  net: Money
  orders: number
  /** Net of the compared bucket. */
  before: Money | undefined
}

/** Returns the buckets of a report in one currency. */
export function barsOf({ timeseries, comparison }: Pick<ReportResponse, "timeseries" | "comparison">, currency: string): Bar[] {
  return timeseries.map(({ time, partial = false, by_currency }, i) => {
    const { gross, refunds, net, orders } = by_currency.find((one) => one.currency === currency)!
    const compared = comparison?.timeseries[i]?.by_currency.find((one) => one.currency === currency)
    return { time, partial, gross, refunds, net, orders, before: compared?.net }
  })
}

interface ChartProps {
  bars: readonly Bar[]
  interval: string
  isCompared: boolean
  /** Leaves out the key and the table, where there is little room. */
  isCompact?: boolean
}

/** Sales above the axis and refunds below it, over time, with the net of the compared range. The arrow keys move between the buckets. */
export function RevenueChart({ bars, interval, isCompared, isCompact = false }: ChartProps) {
  const [point, setPoint] = useState<number>()
  const [asTable, setAsTable] = useState(false)
  const [byKey, setByKey] = useState(false)
  const id = useId()
  const { top, bottom } = boundsOf(bars)
  const y = (value: number) => (100 * (top - value)) / (top - bottom || 1)
  const move = (event: KeyboardEvent) => {
    const from = point ?? bars.length
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: bars.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setPoint(Math.max(0, Math.min(bars.length - 1, to)))
    setByKey(true)
  }
  const pointAt = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect()
    setByKey(false)
    setPoint(Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - left) / width) * bars.length))))
  }
  const chosen = point === undefined ? undefined : bars[point]
  return (
    <>
      {asTable ? (
        <BarTable bars={bars} interval={interval} isCompared={isCompared} />
      ) : (
        <div class="revenue-chart" data-compact={isCompact || undefined}>
          <p class="revenue-read-out small" id={id} aria-live={byKey ? "polite" : "off"}>
            {chosen ? (
              <ReadOut bar={chosen} interval={interval} />
            ) : (
              <span class="quiet">
                {isCompact ? `Sales and refunds in ${bars[0]!.gross.currency}` : "Point at a bar, or use the arrow keys."}
              </span>
            )}
          </p>
          <div class="revenue-plot">
            <div class="revenue-scale small quiet" aria-hidden="true">
              {[top, top / 2, 0, ...(bottom < 0 ? [bottom] : [])].map((value) => (
                <span key={value} style={{ top: `${y(value)}%` }}>
                  {shortMoney({ ...bars[0]!.gross, amount: String(value) })}
                </span>
              ))}
            </div>
            {/* The attribute that lets an element take the focus is spelled differently in SVG. */}
            <div
              class="revenue-canvas"
              role="img"
              tabIndex={0}
              aria-label={summaryOf(bars, interval)}
              aria-describedby={id}
              onKeyDown={move}
              onPointerMove={pointAt}
            >
              <svg viewBox={`0 0 ${bars.length} 100`} preserveAspectRatio="none" aria-hidden="true">
                {[top, top / 2, bottom].map((value) => (
                  <line key={value} class="grid-line" x1={0} x2={bars.length} y1={y(value)} y2={y(value)} />
                ))}
                {point !== undefined && <rect class="revenue-cursor" x={point} y={0} width={1} height={100} />}
                {bars.map(({ time, gross, refunds, partial }, i) => (
                  <g key={time} data-partial={partial || undefined}>
                    <rect class="revenue-sales" x={i + 0.15} width={0.7} y={y(sizeOf(gross))} height={y(0) - y(sizeOf(gross))} />
                    <rect class="revenue-refunds" x={i + 0.15} width={0.7} y={y(0)} height={y(-sizeOf(refunds)) - y(0)} />
                  </g>
                ))}
                <line class="revenue-axis" x1={0} x2={bars.length} y1={y(0)} y2={y(0)} />
                {isCompared && (
                  <polyline
                    class="revenue-before"
                    points={bars.map(({ before }, i) => `${i + 0.5},${y(before ? sizeOf(before) : 0)}`).join(" ")}
                  />
                )}
              </svg>
            </div>
          </div>
          <div class="revenue-days small quiet" aria-hidden="true">
            {labelled(bars).map(({ bar, place }) => (
              <span key={bar.time} style={{ left: `${100 * place}%` }}>
                {timeText(bar.time, interval)}
              </span>
            ))}
          </div>
        </div>
      )}
      {!isCompact && (
        <div class="chart-foot">
          <span class="row">
            <span class="key-of-series">Sales</span>
            <span class="key-of-series revenue-key-refunds">Refunds</span>
            {isCompared && (
              <span class="key-of-series" data-other>
                Previous net
              </span>
            )}
          </span>
          <button type="button" class="text-button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? "Show as chart" : "Show as table"}
          </button>
        </div>
      )}
    </>
  )
}

const ReadOut = ({ bar, interval }: { bar: Bar; interval: string }) => (
  <>
    <strong>{moneyText(bar.net)} net</strong> {timeText(bar.time, interval, true)}
    {bar.partial && " (in progress)"} · {moneyText(bar.gross)} sales · {moneyText(bar.refunds)} refunds · {ordersText(bar.orders)}{" "}
    {bar.orders === 1 ? "order" : "orders"}
    {bar.before && ` · ${moneyText(bar.before)} before`}
  </>
)

/** The same numbers as a table. */
const BarTable = ({ bars, interval, isCompared }: ChartProps) => (
  <div class="table-wrap chart-table" tabIndex={0} role="region" aria-label="Revenue over time">
    <table class="table">
      <thead>
        <tr>
          {["Time", "Sales", "Refunds", "Net", "Orders", ...(isCompared ? ["Previous net"] : [])].map((head, i) => (
            <th key={head} scope="col" class={i === 0 ? undefined : "number"}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map((bar) => (
          <tr key={bar.time}>
            <th scope="row">
              {timeText(bar.time, interval, true)}
              {bar.partial && " (in progress)"}
            </th>
            <td class="number">{moneyText(bar.gross)}</td>
            <td class="number">{moneyText(bar.refunds)}</td>
            <td class="number">{moneyText(bar.net)}</td>
            <td class="number">{ordersText(bar.orders)}</td>
            {isCompared && <td class="number">{bar.before ? moneyText(bar.before) : "–"}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** Rounds the largest bars up to a number that divides well. The axis is at 0. */
function boundsOf(bars: readonly Bar[]): { top: number; bottom: number } {
  const top = niceSize(Math.max(1, ...bars.flatMap(({ gross, before }) => [sizeOf(gross), before ? sizeOf(before) : 0])))
  const below = Math.max(0, ...bars.flatMap(({ refunds, before }) => [sizeOf(refunds), before ? -sizeOf(before) : 0]))
  // Below the axis in steps of a quarter of what is above it, so that both have the same scale.
  return { top, bottom: below === 0 ? 0 : -Math.ceil(below / (top / 4)) * (top / 4) }
}

function niceSize(size: number): number {
  const unit = 10 ** Math.floor(Math.log10(size))
  return [1, 2, 4, 5, 8, 10].map((step) => step * unit).find((step) => step >= size)!
}

/** At most seven buckets that are named below the chart, evenly spaced, with the place of their middle from 0 to 1. */
function labelled(bars: readonly Bar[]): { bar: Bar; place: number }[] {
  const step = Math.max(1, Math.ceil(bars.length / 7))
  return bars.flatMap((bar, i) => (i % step === 0 ? [{ bar, place: (i + 0.5) / bars.length }] : []))
}

function timeText(time: string, interval: string, isLong = false): string {
  if (interval === "hour") return isLong ? `${dayText(time)}, ${time.slice(11, 16)}` : time.slice(11, 16)
  if (interval === "month") return dayText(time, { weekday: undefined, day: undefined, ...(!isLong && { year: undefined }) })
  const text = dayText(time, isLong ? {} : { weekday: undefined, year: undefined })
  return interval === "week" && isLong ? `week of ${text}` : text
}

function summaryOf(bars: readonly Bar[], interval: string): string {
  const sorted = bars.toSorted((a, b) => sizeOf(a.net) - sizeOf(b.net))
  const ends = sorted.length === 0 ? "" : `, lowest net ${moneyText(sorted[0]!.net)}, highest net ${moneyText(sorted.at(-1)!.net)}`
  return `Revenue by ${interval}, ${bars.length} points${ends}. Arrow keys move between points.`
}
