import {
  type Column,
  DataTable,
  EmptyState,
  exact,
  numberText,
  Page,
  QueryResult,
  queryOf,
  SortField,
  TimeAgo,
  useFilters,
} from "#plugin/ui"
import type { SlowQueriesResponse, SlowQueryResponse } from "../../operation-responses.ts"
import { siteText, useSiteNames } from "../fields.tsx"
import { sentenceCase } from "../parts.tsx"
import { useAdmin } from "../queries.ts"

const REFETCH_MS = 30_000

/** Page of the latest slow queries, with advice on how to make them faster. */
export default function SlowQueriesPage() {
  const [filters, setFilters] = useFilters(["sort"])
  const queries = useAdmin<SlowQueriesResponse>(`system/slow-questions${queryOf(filters)}`, { refetchMs: REFETCH_MS })
  const names = useSiteNames()
  const order = {
    columns: columnsOf(names),
    sort: `-${filters.sort ?? "at"}`,
    onSort: (by: string) => setFilters({ sort: by.replace("-", "") }),
  }
  return (
    <Page title="Slow queries">
      <p class="quiet">The latest 100 queries that took a second or more since the last start. Their filters are not recorded.</p>
      <QueryResult of={queries} rows={6}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>No slow queries since the last start.</EmptyState>
          ) : (
            <div class="stack">
              <SortField {...order} />
              <DataTable
                stacks
                caption="Slow queries"
                rows={data}
                keyOf={({ at, site_id, kind, took_ms }) => `${at} ${site_id} ${kind} ${took_ms}`}
                {...order}
              />
              <Advice />
            </div>
          )
        }
      </QueryResult>
    </Page>
  )
}

const Advice = () => (
  <div>
    <p>
      If most of the time is waiting, there are more concurrent queries than worker threads. Raise <code>FOOTFALL_QUERY_WORKERS</code>, up
      to one per core.
    </p>
    <p>
      Otherwise, a shorter period is faster. A larger <code>FOOTFALL_CACHE_MB</code> helps if the same reports are opened repeatedly.
    </p>
  </div>
)

const KINDS: Readonly<Record<string, string>> = {
  summary: "Summary",
  timeseries: "Chart",
  funnels: "Funnel",
  paths: "Journeys",
  property_keys: "Event properties",
  suggest: "Suggested values",
  pulse: "Current visitors",
  last_match: "Last match of a goal",
  visits_weight: "Erasure preview",
  chosen_visits: "Erasure",
  tally: "Link or pixel counts",
  export_breakdown: "Breakdown export",
  import_facts: "Imports of a report",
  row_tables: "Plugin tables",
}

/** Texts of the endings other than an answer. */
const ENDINGS: Readonly<Record<string, string>> = {
  late: "timed out after 15 s",
  left: "cancelled by the caller",
  failed: "failed; see the log",
}

const columnsOf = (names: ReadonlyMap<number, string>): Column<SlowQueryResponse>[] => [
  { id: "kind", label: "Query", cell: ({ kind }) => <span class="whole">{KINDS[kind] ?? sentenceCase(kind)}</span> },
  { id: "site", label: "Site", cell: ({ site_id }) => <span class="whole">{site_id === null ? "none" : siteText(names, site_id)}</span> },
  { id: "range", label: "Days", number: true, cell: ({ range_days }) => (range_days === null ? "–" : exact(range_days)) },
  { id: "took", label: "Duration", number: true, sort: "took_ms", cell: ({ took_ms }) => secondsText(took_ms) },
  { id: "waited", label: "Waiting", number: true, cell: ({ waited_ms }) => secondsText(waited_ms) },
  { id: "ending", label: "Result", cell: ({ ending }) => ENDINGS[ending] ?? "answered" },
  { id: "at", label: "Time", sort: "at", cell: ({ at }) => <TimeAgo at={at} /> },
]

const secondsText = (ms: number) => (
  <span class="whole">{numberText(ms / 1_000, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} s</span>
)
