import { Answer, type Column, DataTable, EmptyState, exact, Page } from "#plugin/ui"
import { useAdmin } from "./ask.ts"
import { queryOf, useFilters } from "./list.ts"
import { Moment, sentenceCase } from "./parts.tsx"
import { siteText, useSiteNames } from "./site-field.tsx"

interface SlowQuestion {
  at: string
  kind: string
  site_id: number | null
  range_days: number | null
  waited_ms: number
  took_ms: number
  ending: string
}

export interface SlowQuestions {
  last_hour: number
  data: SlowQuestion[]
}

const REFETCH_MS = 30_000

/** Reports that people or programs had to wait for, and what makes them quicker. */
export default function Questions() {
  const [filters, setFilters] = useFilters(["sort"])
  const questions = useAdmin<SlowQuestions>(`system/slow-questions${queryOf(filters)}`, { refetchMs: REFETCH_MS })
  const names = useSiteNames()
  const sort = `-${filters.sort ?? "at"}`
  return (
    <Page title="Slow questions">
      <p class="quiet">Reports that took a second or more since the last start, the last 100 of them. What they filtered by is not kept.</p>
      <Answer of={questions} rows={6}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>No report has taken a second since the last start.</EmptyState>
          ) : (
            <div class="stack">
              <DataTable
                caption="Slow questions"
                columns={columnsOf(names)}
                rows={data}
                keyOf={({ at, site_id, kind, took_ms }) => `${at} ${site_id} ${kind} ${took_ms}`}
                sort={sort}
                onSort={(by) => setFilters({ sort: by.replace("-", "") })}
              />
              <Advice />
            </div>
          )
        }
      </Answer>
    </Page>
  )
}

const Advice = () => (
  <div>
    <p>
      Where most of the time is waiting, more is asked at once than there are threads: give more of them by{" "}
      <code>FOOTFALL_QUERY_WORKERS</code>, up to one for each core.
    </p>
    <p>
      Where it is work, a shorter period is faster, and more memory by <code>FOOTFALL_CACHE_MB</code> helps when the same reports come
      again.
    </p>
  </div>
)

const KINDS: Readonly<Record<string, string>> = {
  summary: "Figures",
  timeseries: "Chart",
  funnels: "Funnel",
  paths: "Journeys",
  property_keys: "Properties of events",
  suggest: "Suggested values",
  pulse: "Visitors now",
  last_match: "Last match of a goal",
  visits_weight: "What an erasure would take",
  chosen_visits: "Erasure",
  tally: "Count of links or pixels",
  export_breakdown: "Breakdown as a file",
  row_tables: "Tables of an area",
}

/** How it ended, in words; undefined of an answer, which is the usual end. */
const ENDINGS: Readonly<Record<string, string>> = {
  late: "no answer: 15 seconds were over",
  left: "given up by who asked",
  failed: "failed; the log says why",
}

const columnsOf = (names: ReadonlyMap<number, string>): Column<SlowQuestion>[] => [
  { id: "kind", label: "Report", cell: ({ kind }) => <span class="whole">{KINDS[kind] ?? sentenceCase(kind)}</span> },
  { id: "site", label: "Site", cell: ({ site_id }) => <span class="whole">{site_id === null ? "none" : siteText(names, site_id)}</span> },
  { id: "range", label: "Days", number: true, cell: ({ range_days }) => (range_days === null ? "–" : exact(range_days)) },
  { id: "took", label: "Took", number: true, sort: "took_ms", cell: ({ took_ms }) => secondsText(took_ms) },
  { id: "waited", label: "of that waiting", number: true, cell: ({ waited_ms }) => secondsText(waited_ms) },
  { id: "ending", label: "Answer", cell: ({ ending }) => ENDINGS[ending] ?? "came" },
  { id: "at", label: "When", sort: "at", cell: ({ at }) => <Moment at={at} /> },
]

const secondsText = (ms: number) => <span class="whole">{(ms / 1_000).toFixed(1)} s</span>
