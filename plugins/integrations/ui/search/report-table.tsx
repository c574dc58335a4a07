import { Link } from "wouter"
import {
  Button,
  type Column,
  DataTable,
  dayText,
  EmptyState,
  exact,
  percent,
  SortField,
  short,
  TruncatedText,
  useSiteAddress,
} from "#plugin/ui"
import type { SearchReport } from "../../search/responses.ts"
import { type Choices, type Filter, filtersOf, groupOf, keyText, positionText, type Row } from "./report.ts"

interface ReportTableProps {
  siteId: number
  report: SearchReport
  rows: readonly Row[]
  choices: Choices
  onChoose(changes: Choices): void
  onMore?(): void
  isLoadingMore: boolean
}

/** A row of the table. The last one can have what the engine withholds. */
type Shown = Omit<Row, "key"> & { key: string | undefined }

/** The group that shows most about a chosen value. */
const NEXT_GROUP: Readonly<Record<Filter, string>> = { query: "page", page: "query", country: "date", device: "date" }

/** The groups of the report. A row is a filter. */
export function ReportTable({ siteId, report, rows, choices, onChoose, onMore, isLoadingMore }: ReportTableProps) {
  const group = groupOf(choices)
  const { withheld, fresh_from } = report
  const hasWithheld = withheld !== null && (withheld.clicks > 0 || withheld.impressions > 0)
  if (rows.length === 0 && !hasWithheld)
    return (
      <EmptyState
        action={
          filtersOf(choices).length > 0 && (
            <Button onClick={() => onChoose({ query: "", page: "", country: "", device: "" })}>Clear filters</Button>
          )
        }
      >
        {filtersOf(choices).length > 0 ? "No searches match the filters in this period." : "No searches in this period."}
      </EmptyState>
    )
  const shown: Shown[] = [...rows, ...(hasWithheld && !onMore ? [{ ...withheld, key: undefined, ctr: 0, position: null }] : [])]
  const canSortByKey = group !== "query" && group !== "page"
  const nameOf = ({ key }: Shown) => {
    if (key === undefined)
      return <span class="quiet">Withheld: rare {group === "page" ? "pages" : "queries"} that the search engine doesn't disclose</span>
    if (group === "date") return `${dayText(key)}${fresh_from !== null && key >= fresh_from ? " (may still change)" : ""}`
    return (
      <button type="button" class="text-button" onClick={() => onChoose({ [group]: key, group: NEXT_GROUP[group], sort: "" })}>
        <TruncatedText text={keyText(group, key)} />
      </button>
    )
  }
  const columns: Column<Shown>[] = [
    { id: "key", label: GROUP_HEADS[group], ...(canSortByKey && { sort: "key" }), cell: nameOf },
    {
      id: "clicks",
      label: "Clicks",
      number: true,
      sort: "clicks",
      cell: ({ clicks }) => <span title={exact(clicks)}>{short(clicks)}</span>,
    },
    ...(group === "page" ? [visitsColumn(siteId)] : []),
    {
      id: "impressions",
      label: "Impressions",
      number: true,
      sort: "impressions",
      cell: ({ impressions }) => <span title={exact(impressions)}>{short(impressions)}</span>,
    },
    { id: "ctr", label: "Click rate", number: true, sort: "ctr", cell: ({ key, ctr }) => (key === undefined ? "–" : percent(ctr)) },
    {
      id: "position",
      label: "Position",
      number: true,
      sort: "position",
      cell: ({ position }) => positionText(position),
    },
  ]
  const order = { columns, sort: choices.sort ?? (group === "date" ? "key" : "-clicks"), onSort: (sort: string) => onChoose({ sort }) }
  return (
    <>
      <SortField {...order} />
      <DataTable stacks caption={GROUP_HEADS[group]} rows={shown} keyOf={({ key }) => key ?? ""} {...order} />
      {onMore && (
        <div class="pager">
          <Button busy={isLoadingMore} onClick={onMore}>
            Show more
          </Button>
        </div>
      )}
    </>
  )
}

const GROUP_HEADS = { query: "Query", page: "Page", country: "Country", device: "Device", date: "Day" } as const

/** Visits from search that entered on the page, linked to them on the dashboard. */
const visitsColumn = (siteId: number): Column<Shown> => ({
  id: "visits",
  label: "Visits",
  number: true,
  cell: ({ key, visits }) => (visits === undefined || key === undefined ? "–" : <VisitsLink siteId={siteId} page={key} visits={visits} />),
})

function VisitsLink({ siteId, page, visits }: { siteId: number; page: string; visits: number }) {
  const { searchWith } = useSiteAddress()
  const path = URL.parse(page)?.pathname ?? page
  const search = searchWith({
    cards: {},
    filters: [
      { dimension: "entry_page", operator: "is", values: [path] },
      { dimension: "channel", operator: "is", values: ["Organic Search"] },
    ],
  })
  return (
    <Link href={`/sites/${siteId}${search}`} title={`${exact(visits)} visits from search that entered on this page`}>
      {short(visits)}
    </Link>
  )
}
