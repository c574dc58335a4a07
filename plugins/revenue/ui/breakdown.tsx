import { Card, Change, type Column, DataTable, EmptyState, exact, percent, TruncatedText } from "#plugin/ui"
import type { ReportResponse, Row } from "../report/responses.ts"
import { groupName, moneyText, ordersText, sizeOf } from "./money.ts"

/** Groups of the breakdown, as its menu lists them. */
const MENU = {
  Acquisition: {
    source: "Source",
    channel: "Channel",
    referrer: "Referrer",
    entry_page: "Entry page",
    link: "Short link",
  },
  Campaigns: {
    utm_campaign: "Campaign",
    utm_source: "Campaign source",
    utm_medium: "Campaign medium",
    utm_term: "Campaign term",
    utm_content: "Campaign content",
  },
  Visits: { country: "Country", device: "Device" },
  Orders: { product: "Product", goal: "Goal", recurring: "Subscription" },
} as const
const LABELS = { ...MENU.Acquisition, ...MENU.Campaigns, ...MENU.Visits, ...MENU.Orders }
export type GroupId = keyof typeof LABELS

/** Returns a group by its name in the address. Default: the source. */
export const readGroup = (name = "source"): GroupId => (name in LABELS ? (name as GroupId) : "source")

interface BreakdownProps {
  report: ReportResponse
  currency: string
  /** Path of the CSV file with all groups. */
  csv: string | undefined
  group: GroupId
  onGroup(group: GroupId): void
}

/** What groups of visits brought, with a bar for the net of each. */
export function BreakdownCard({ report, currency, csv, group, onGroup }: BreakdownProps) {
  const rows = report.breakdown.filter(({ by_currency }) => by_currency.some((one) => one.currency === currency))
  const label = LABELS[group]
  return (
    <Card
      title="Breakdown"
      full
      marks={
        <select
          class="plain-select"
          aria-label="Group by"
          value={group}
          onChange={(event) => onGroup(readGroup(event.currentTarget.value))}
        >
          {Object.entries(MENU).map(([title, groups]) => (
            <optgroup key={title} label={title}>
              {Object.entries(groups).map(([id, name]) => (
                <option key={id} value={id}>
                  By {name.toLowerCase()}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      }
      foot={
        csv &&
        rows.length > 0 && (
          <a class="text-button" href={csv} download>
            CSV
          </a>
        )
      }
    >
      {rows.length === 0 ? (
        <EmptyState>No revenue in this period.</EmptyState>
      ) : (
        <DataTable
          caption={`Revenue by ${label.toLowerCase()}`}
          rows={rows}
          keyOf={({ key }) => key}
          columns={columnsOf(report, currency, label, rows)}
        />
      )}
    </Card>
  )
}

function columnsOf(report: ReportResponse, currency: string, label: string, rows: readonly Row[]): Column<Row>[] {
  const figures = ({ by_currency }: Row) => by_currency.find((one) => one.currency === currency)
  const most = Math.max(1, ...rows.map((row) => sizeOf(figures(row)!.net)))
  const before = new Map(report.comparison?.breakdown.map((row) => [row.key, figures(row)]))
  const hasVisitors = rows.some(({ visitors }) => visitors !== null)
  return [
    {
      id: "key",
      label,
      cell: (row) => (
        <span class="revenue-group">
          <span class="ranked-bar" style={{ width: `${Math.max(0, (100 * sizeOf(figures(row)!.net)) / most)}%` }} />
          <TruncatedText text={groupName(report.group_by, row)} />
        </span>
      ),
    },
    { id: "net", label: "Net", number: true, cell: (row) => moneyText(figures(row)!.net) },
    ...(report.comparison
      ? [
          {
            id: "change",
            label: "Change",
            number: true,
            cell: (row: Row) => {
              const [now, old] = [sizeOf(figures(row)!.net), before.get(row.key)]
              const base = old ? sizeOf(old.net) : 0
              return <Change metric="revenue" change={base === 0 ? undefined : ((now - base) / Math.abs(base)) * 100} value={now} />
            },
          },
        ]
      : []),
    { id: "gross", label: "Gross", number: true, cell: (row) => moneyText(figures(row)!.gross) },
    { id: "refunds", label: "Refunds", number: true, cell: (row) => moneyText(figures(row)!.refunds) },
    { id: "orders", label: "Orders", number: true, cell: (row) => ordersText(figures(row)!.orders) },
    { id: "aov", label: "Average order", number: true, cell: (row) => (figures(row)!.aov ? moneyText(figures(row)!.aov!) : "–") },
    { id: "share", label: "Share", number: true, cell: (row) => percent(figures(row)!.share) },
    ...(hasVisitors
      ? [
          { id: "visitors", label: "Visitors", number: true, cell: ({ visitors }: Row) => (visitors === null ? "–" : exact(visitors)) },
          {
            id: "rate",
            label: "Conversion rate",
            number: true,
            cell: ({ conversion_rate }: Row) => (conversion_rate === null ? "–" : percent(conversion_rate)),
          },
        ]
      : []),
  ]
}
