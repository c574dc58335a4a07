import { useEffect, useState } from "preact/hooks"
import { FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { ComparedBreakdown } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"
import type { SiteAddress } from "../../../domain/site-address.ts"
import { exact } from "../../format.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { useStatsSource } from "../../stats/source.ts"
import { useReport } from "../../stats/use-report.ts"
import { dimensionLabel } from "../../words.ts"
import { splitArguments } from "./breakdown-card.tsx"
import { CardAnswer } from "./card-answer.tsx"
import { type CardTab, detailsTab } from "./card-tabs.ts"
import { DetailsTable } from "./details-table.tsx"
import { useSoughtAddress } from "./sought-address.ts"
import { detailsMetrics } from "./strip-metrics.ts"

interface DetailsProps {
  /** What of the address names them. */
  name: string
  address: SiteAddress
  onClose(): void
}

const A_PAGE = 100
const WAIT_MS = 150

/** All values of a dimension with all their numbers. */
export default function Details({ name, address, onClose }: DetailsProps) {
  const tab = detailsTab(decodeURIComponent(name), FLAT_DIMENSIONS)
  if (!tab)
    return (
      <Dialog title="Details" onClose={onClose}>
        <EmptyState>There are no details of {visible(name)}.</EmptyState>
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
  const sought = useSoughtAddress(address, tab, search)
  const given = { ...splitArguments(sought.address, tab), metrics }
  const by = sort ?? `-${metrics[0]}`
  const ordered = { sort: by.replace("-", ""), order: by.startsWith("-") ? "desc" : "asc" }
  const report = useReport("breakdown", { ...given, ...ordered, limit: A_PAGE, offset }, { enabled: sought.isKnown })
  const title = tab.id === "404" ? "Pages that were not found" : dimensionLabel(tab.dimension, tab.property && visible(tab.property))
  return (
    <Dialog title={title} onClose={onClose} wide>
      <div class="row spread details-tools">
        {source.filters && ( // a search is a filter
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
        {source.exportAddress && sought.isKnown && (
          <a class="button" href={source.exportAddress("breakdown", given)} download>
            CSV
          </a>
        )}
      </div>
      <CardAnswer of={report} rows={12}>
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
              // Of those that were sought the share would be one of another whole.
              hasShare={search === ""}
            />
            <Pager offset={offset} data={data} isCut={sought.isCut} onOffset={setOffset} />
          </>
        )}
      </CardAnswer>
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
  const isLast = offset + A_PAGE > QUERY.breakdownOffset
  return (
    <div class="pager">
      <span class="small quiet" role="status">
        {total === 0 ? "Nothing found" : `${exact(offset + 1)} to ${exact(offset + rows.length)} of ${exact(total)}`}
        {hasMore && isLast && ". A search, or the CSV file, leads to the others."}
        {isCut && ", those with most visitors. A longer text finds the others."}
      </span>
      <Button disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - A_PAGE))}>
        Previous
      </Button>
      <Button disabled={!hasMore || isLast} onClick={() => onOffset(offset + A_PAGE)}>
        Next
      </Button>
    </div>
  )
}
