import { useEffect, useState } from "preact/hooks"
import { Link } from "wouter"
import { type Dimension, FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { ComparedBreakdown, Suggestions } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"
import type { FlatMetric } from "../../../domain/metric.ts"
import { type AddressFilter, comparisonArguments, rangeArguments, type SiteAddress } from "../../../domain/site-address.ts"
import { useSite } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Button } from "../../parts/button.tsx"
import { Change } from "../../parts/change.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { ValueIcon } from "../../parts/value-icon.tsx"
import { exact, metricLabel, metricText, percent } from "../../text/format.ts"
import { dimensionLabel } from "../../text/labels.ts"
import { TruncatedText, visible } from "../../text/safe-text.tsx"
import { type CardTab, filtersAfter, PAGE_TABS } from "../data/card-tabs.ts"
import { countryName, isAboutConversions, isNoValue, rowMetrics, rowValue, valueText } from "../data/figures.ts"
import { hasEarlierData } from "../data/ranges.ts"
import { useReport, useStatsSource } from "../data/reports.ts"
import { RowNote } from "../explanations.tsx"
import { isCoded } from "../filters/filters.ts"
import { ImportMark } from "../trust.tsx"
import { CardResult } from "./card-answer.tsx"
import { splitArguments } from "./cards.tsx"

interface DetailsProps {
  /** Dimension as named in the URL. */
  name: string
  address: SiteAddress
  onClose(): void
}

const PAGE_SIZE = 100
const WAIT_MS = 150

/** Dialog with all values of a dimension and all their metrics. */
export default function Details({ name, address, onClose }: DetailsProps) {
  const tab = detailsTab(decodeURIComponent(name), FLAT_DIMENSIONS)
  if (!tab)
    return (
      <Dialog title="Details" onClose={onClose}>
        <EmptyState>There is no report for {visible(name)}.</EmptyState>
      </Dialog>
    )
  return <DetailsOf tab={tab} address={address} onClose={onClose} />
}

function DetailsOf({ tab, address, onClose }: { tab: CardTab } & Omit<DetailsProps, "name">) {
  const source = useStatsSource()
  const [typed, setTyped] = useState("")
  const [search, setSearch] = useState("")
  const [sort, setSort] = useState<string>()
  const [offset, setOffset] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => {
      setSearch(typed.trim())
      setOffset(0)
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const metrics = detailsMetrics(address, tab.dimension, source.can("revenue:read"))
  const sought = useSearchedAddress(address, tab, search)
  const given = { ...splitArguments(sought.address, tab), metrics }
  const by = sort ?? `-${metrics[0]}`
  const ordered = { sort: by.replace("-", ""), order: by.startsWith("-") ? "desc" : "asc" }
  const asked = { ...given, ...comparisonArguments(address), ...ordered, limit: PAGE_SIZE, offset }
  const report = useReport("breakdown", asked, { enabled: sought.isKnown })
  const title = tab.id === "404" ? "Not found pages" : dimensionLabel(tab.dimension, tab.property && visible(tab.property))
  return (
    <Dialog title={title} onClose={onClose} wide>
      <div class="row spread details-tools">
        {source.filters && ( // searching adds a filter
          <input
            class="input"
            type="search"
            aria-label={`Search ${title.toLowerCase()}`}
            placeholder="Search"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
            autofocus
          />
        )}
        <span class="card-head">
          <ImportMark of={report.data?.imports} />
        </span>
        {source.exportAddress && sought.isKnown && (
          <a class="button" href={source.exportAddress("breakdown", given)} download>
            CSV
          </a>
        )}
      </div>
      <CardResult of={report} rows={12}>
        {(data) => (
          <>
            <DetailsTable
              tab={tab}
              title={title}
              data={data as ComparedBreakdown}
              metrics={metrics}
              sort={by}
              onSort={(next) => {
                setSort(next)
                setOffset(0)
              }}
              // A search changes the total, so shares would be misleading.
              hasShare={search === ""}
            />
            <Pager offset={offset} data={data} isCut={sought.isCut} onOffset={setOffset} />
          </>
        )}
      </CardResult>
    </Dialog>
  )
}

function Pager({
  offset,
  data,
  isCut,
  onOffset,
}: {
  offset: number
  data: Pick<ComparedBreakdown, "rows" | "total_rows" | "has_more">
  isCut: boolean
  onOffset(offset: number): void
}) {
  const { rows, total_rows: total, has_more: hasMore } = data
  const isLast = offset + PAGE_SIZE > QUERY.breakdownOffset
  return (
    <div class="pager">
      <span class="small quiet" role="status">
        {total === 0 ? "No matches" : `${exact(offset + 1)} to ${exact(offset + rows.length)} of ${exact(total)}`}
        {hasMore && isLast && ". Search or download the CSV file to see the rest."}
        {isCut && ", those with the most visitors. Type more to find others."}
      </span>
      <Button disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - PAGE_SIZE))}>
        Previous
      </Button>
      <Button disabled={!hasMore || isLast} onClick={() => onOffset(offset + PAGE_SIZE)}>
        Next
      </Button>
    </div>
  )
}

interface DetailsTableProps {
  tab: CardTab
  title: string
  data: ComparedBreakdown
  metrics: readonly FlatMetric[]
  sort: string
  onSort(sort: string): void
  hasShare: boolean
}

/** A page of rows. A click on a row filters the dashboard behind the dialog by it. */
function DetailsTable({ tab, title, data, metrics, sort, onSort, hasShare }: DetailsTableProps) {
  const { base, siteId, address, searchWith } = useSiteAddress()
  const { data: site } = useSite(siteId)
  const [first] = metrics
  const compares = data.comparison !== undefined && hasEarlierData(data, site)
  if (data.rows.length === 0) return <EmptyState>No matches in this period.</EmptyState>
  type Row = ComparedBreakdown["rows"][number]
  const columns: Column<Row>[] = [
    {
      id: "value",
      label: title,
      cell: ({ value, label }) => {
        const text = valueText(tab.dimension, value, label)
        const link = (
          <Link class="plain-link named" href={`${base}${searchWith({ filters: filtersAfter(address.filters, tab, value) })}`}>
            <ValueIcon dimension={tab.dimension} value={value} />
            <TruncatedText text={text} />
          </Link>
        )
        if (!isNoValue(value)) return link
        return (
          <span class="row">
            {link}
            <RowNote value={value} label={text} />
          </span>
        )
      },
    },
    ...metrics.flatMap((metric) => [
      {
        ...{ id: metric, label: metricLabel(metric), number: true, sort: metric },
        cell: (row: Row) => metricText(metric, rowValue(row, metric), data.revenue_currency, true),
      },
      ...(compares && metric === first ? [changeColumn(metric)] : []),
    ]),
    ...(hasShare ? [{ id: "share", label: "Share", number: true, cell: ({ share }: Row) => percent(share) }] : []),
  ]
  return <DataTable caption={title} columns={columns} rows={data.rows} keyOf={({ value }) => value} sort={sort} onSort={onSort} />
}

/** Column with the change of a metric from the compared period. */
const changeColumn = (metric: FlatMetric): Column<ComparedBreakdown["rows"][number]> => ({
  ...{ id: "change", label: "Change", number: true },
  cell: (row) => <Change metric={metric} change={row.comparison?.change_percent[metric]} value={rowValue(row, metric)} />,
})

interface SearchedAddress {
  address: SiteAddress
  /** False while the server is searching for names. */
  isKnown: boolean
  /** Whether more values matched than a filter accepts. */
  isCut: boolean
}

/** Returns the address with the search as an additional filter. Places are also searched by name. */
function useSearchedAddress(address: SiteAddress, { dimension, property }: CardTab, search: string): SearchedAddress {
  const { found, isKnown, isCut } = useNamedCodes(address, { dimension, search })
  if (search === "") return { address, isKnown: true, isCut: false }
  const codes = dimension === "country" ? countryCodes(search) : found.slice(0, QUERY.flatValues)
  const filter: AddressFilter = {
    dimension,
    ...(property !== undefined && { property }),
    ...(codes.length > 0 ? { operator: "is", values: codes } : { operator: "contains", values: [search] }),
  }
  return { address: { ...address, filters: [...address.filters, filter] }, isKnown, isCut }
}

/**
 * Fetches the codes of regions or cities whose code or name contains a text, most visitors first. Returns none if only codes match,
 * because a `contains` filter finds those.
 */
function useNamedCodes(address: SiteAddress, { dimension, search }: Pick<CardTab, "dimension"> & { search: string }) {
  const isAsked = search !== "" && isCoded(dimension)
  const given = { ...rangeArguments(address), dimension, q: search.slice(0, QUERY.wildcardChars), limit: QUERY.flatValues + 1 }
  const { data, isPending, isPlaceholderData } = useReport("values", given, { enabled: isAsked, refetchMs: false })
  const isKnown = !isAsked || !(isPending || isPlaceholderData)
  const values = isAsked && isKnown ? ((data as Suggestions | undefined)?.data ?? []).map(({ value }) => value) : []
  const holds = (value: string) => value.toLowerCase().includes(search.toLowerCase())
  return { found: values.every(holds) ? [] : values, isKnown, isCut: values.length > QUERY.flatValues }
}

const MAX_CODES = 50

/** Returns the codes of the countries whose names contain a text, at most as many as one filter accepts. */
function countryCodes(text: string): string[] {
  const wanted = text.toLowerCase()
  return CODES.filter((code) => code.toLowerCase() === wanted || countryName(code)?.toLowerCase().includes(wanted)).slice(0, MAX_CODES)
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
/** All pairs of letters. Pairs that are not a country code have no name and never match. */
const CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))

/** Returns the columns of a details page. Goals and events have no bounce rate or duration; a conversion rate needs a goal or event filter. */
function detailsMetrics(filtered: Pick<SiteAddress, "filters">, dimension: Dimension, seesRevenue: boolean): FlatMetric[] {
  if (dimension === "goal" || dimension === "event") return rowMetrics(filtered, dimension, seesRevenue)
  if (dimension === "property") return ["visitors", "events"]
  const rate: FlatMetric[] = isAboutConversions(filtered) ? ["conversions", "conversion_rate"] : []
  if (dimension === "title") return ["visitors", "pageviews", ...rate]
  const time: FlatMetric[] = dimension === "page" ? ["time_on_page", "scroll_depth"] : ["visit_duration"]
  return ["visitors", "visits", "pageviews", "bounce_rate", ...time, ...rate]
}

/** Returns the tab of a details page by its name: a dimension, `property:<key>` or `404`. Undefined if it does not exist. */
function detailsTab(name: string, dimensions: readonly Dimension[]): CardTab | undefined {
  if (name === "404") return PAGE_TABS.find(({ id }) => id === "404")
  const [dimension, ...key] = name.split(":")
  const found = dimensions.find((one) => one === dimension)
  if (!found || (found === "property") !== key.length > 0) return undefined
  return { id: name, label: name, dimension: found, ...(key.length > 0 && { property: key.join(":") }) }
}
