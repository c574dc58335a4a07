import { useState } from "preact/hooks"
import { Link } from "wouter"
import type { Dimension } from "../../../domain/dimension.ts"
import type { CampaignMatrix } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"
import { type AddressFilter, rangeArguments } from "../../../domain/site-address.ts"
import { isFiltered, isFilteredBy, useSiteAddress } from "../../browser/address.ts"
import { csvText, saveFile } from "../../browser/files.ts"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { SecondLine } from "../../parts/narrow-table.tsx"
import { Card } from "../../parts/page.tsx"
import { EmptyState, errorText } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { CardResult } from "../../report/cards/card-answer.tsx"
import EmptyCard from "../../report/cards/empty-card.tsx"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { ImportMark } from "../../report/trust.tsx"
import { exact, metricText, short } from "../../text/format.ts"
import { TruncatedText } from "../../text/safe-text.tsx"

type Row = CampaignMatrix["rows"][number]
const TAGS = [
  ["utm_source", "source"],
  ["utm_medium", "medium"],
  ["utm_campaign", "campaign"],
] as const satisfies readonly (readonly [Dimension, keyof Row])[]
const ROWS = 100

/** Fetches the matrix. The page and the card share the answer. */
export const useMatrix = () => useReport("campaigns", { ...rangeArguments(useSiteAddress().address), limit: ROWS })

/** Shows source, medium and campaign together. A click on a row filters by all three. */
export function Matrix() {
  const { address } = useSiteAddress()
  const report = useMatrix()
  return (
    <Card
      title="Source, medium and campaign"
      full
      marks={<ImportMark of={(report.data as CampaignMatrix | undefined)?.imports} />}
      foot={<Foot report={report.data as CampaignMatrix | undefined} />}
    >
      <CardResult of={report} rows={6}>
        {(data) => {
          const { rows } = data as CampaignMatrix // the result of the campaigns report
          if (rows.length > 0)
            return (
              <DataTable
                caption="Visitors and conversions of campaigns"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ source, medium, campaign }) => JSON.stringify([source, medium, campaign])}
              />
            )
          if (isFiltered(address)) return <EmptyCard />
          return (
            <EmptyState>
              No visits through tagged links in this period. Create a tagged link below and use it in your next campaign.
            </EmptyState>
          )
        }}
      </CardResult>
    </Card>
  )
}

const Foot = ({ report }: { report: CampaignMatrix | undefined }) =>
  report === undefined ? null : (
    <>
      {report.total_rows > 0 && <MatrixFile />}
      <span>{exact(report.total_rows)} total</span>
      {report.notes?.map((note) => (
        <span key={note}>{note}</span>
      ))}
    </>
  )

const FIELDS = ["source", "medium", "campaign", "visitors", "conversions", "conversion_rate"] as const

/** Exports all matching rows. The file is created here, because the server has no export of this report. */
function MatrixFile() {
  const { address } = useSiteAddress()
  const { ask, exportAddress } = useStatsSource()
  const [busy, setBusy] = useState(false)
  if (!exportAddress) return null
  const save = async () => {
    setBusy(true)
    try {
      const { signal } = new AbortController()
      const rows = await allCampaigns(
        (page) => ask("campaigns", { ...rangeArguments(address), ...page }, signal) as Promise<CampaignMatrix>, // the result of the campaigns report
      )
      saveFile("campaigns.csv", new Blob([csvText(FIELDS, rows)], { type: "text/csv" }))
    } catch (error) {
      toast(`The export failed. ${errorText(error as Error)}`)
    } finally {
      setBusy(false)
    }
  }
  return (
    <button type="button" class="text-button" aria-busy={busy} onClick={() => !busy && void save()}>
      CSV
    </button>
  )
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "source",
    label: "Source",
    cell: (row) => (
      <>
        <RowLink row={row} />
        <SecondLine text={[row.medium, row.campaign].join(" · ")} />
      </>
    ),
  },
  { id: "medium", label: "Medium", wideOnly: true, cell: ({ medium }) => <TruncatedText text={medium} /> },
  { id: "campaign", label: "Campaign", wideOnly: true, cell: ({ campaign }) => <TruncatedText text={campaign} /> },
  { id: "visitors", label: "Visitors", number: true, cell: ({ visitors }) => <span title={exact(visitors)}>{short(visitors)}</span> },
  {
    id: "conversions",
    label: "Conversions",
    number: true,
    wideOnly: true,
    cell: ({ conversions }) => <span title={exact(conversions)}>{short(conversions)}</span>,
  },
  { id: "rate", label: "Rate", number: true, cell: ({ conversion_rate }) => metricText("conversion_rate", conversion_rate) },
]

function RowLink({ row }: { row: Row }) {
  const { siteId, address, searchWith } = useSiteAddress()
  const chosen = TAGS.every(([dimension, field]) => isFilteredBy(address.filters, dimension, row[field]))
  const others = address.filters.filter(({ dimension }) => !TAGS.some(([tag]) => tag === dimension))
  const own: AddressFilter[] = TAGS.map(([dimension, field]) => ({ dimension, operator: "is", values: [row[field]] }))
  return (
    <Link
      href={`/sites/${siteId}/campaigns${searchWith({ filters: chosen ? others : [...others, ...own] })}`}
      aria-current={chosen ? "true" : undefined}
    >
      <TruncatedText text={row.source} />
    </Link>
  )
}

/** Fetches all rows of the campaign matrix, most visitors first. `ask` fetches one page. */
export async function allCampaigns(
  ask: (page: { limit: number; offset: number }) => Promise<CampaignMatrix>,
): Promise<CampaignMatrix["rows"]> {
  const rows: CampaignMatrix["rows"] = []
  let hasMore: boolean
  do {
    const page = await ask({ limit: QUERY.campaigns.max, offset: rows.length })
    rows.push(...page.rows)
    hasMore = page.has_more
  } while (hasMore)
  return rows
}
