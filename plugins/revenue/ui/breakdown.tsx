import { Card, Change, type Column, DataTable, EmptyState, exact, percent, TruncatedText } from "#plugin/ui"
import type { ReportResponse, Row } from "../report/responses.ts"
import { groupName, moneyText, ordersText, sizeOf } from "./money.ts"

/** Groups of the breakdown, in the order of their buttons. */
export const GROUPS = [
  { id: "source", label: "Source" },
  { id: "channel", label: "Channel" },
  { id: "utm_campaign", label: "Campaign" },
  { id: "entry_page", label: "Entry page" },
  { id: "country", label: "Country" },
  { id: "device", label: "Device" },
  { id: "product", label: "Product" },
  { id: "goal", label: "Goal" },
  { id: "link", label: "Short link" },
  { id: "recurring", label: "Subscription" },
  { id: "referrer", label: "Referrer" },
  { id: "utm_source", label: "Campaign source" },
  { id: "utm_medium", label: "Medium" },
  { id: "utm_term", label: "Term" },
  { id: "utm_content", label: "Content" },
] as const
export type GroupId = (typeof GROUPS)[number]["id"]

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
  const label = GROUPS.find(({ id }) => id === group)!.label
  return (
    <Card<GroupId>
      title="Breakdown"
      full
      tabs={GROUPS}
      chosen={group}
      onChoose={onGroup}
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
