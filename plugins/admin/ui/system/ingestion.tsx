import {
  type Column,
  DataTable,
  DROP_REASON_LABELS,
  EmptyState,
  exact,
  FilterRow,
  Page,
  QueryResult,
  queryOf,
  SecondLine,
  SelectField,
  TimeAgo,
  timeText,
  useFilters,
  visible,
} from "#plugin/ui"
import type { IngestionMinute, IngestionResponse, SampleResponse } from "../../operation-responses.ts"
import { SiteField, siteText, useSiteNames } from "../fields.tsx"
import { Part } from "../parts.tsx"
import { useAdmin } from "../queries.ts"
import { acceptedPerSecond, Figures, hasNone, IngestChart, rejectedOf } from "./figures.tsx"

const HOURS = ["1", "6", "24"] as const
const HOUR_MS = 3_600_000

/** Page of the events that arrived, by minute, result and drop reason. */
export default function IngestionPage() {
  const [filters, setFilters] = useFilters(["hours", "site", "reason"])
  const hours = HOURS.find((one) => one === filters.hours) ?? "1"
  // Rounded to the minute so that the query key stays stable. The last hour is the server's default.
  const from = hours === "1" ? "" : new Date(Math.floor((Date.now() - Number(hours) * HOUR_MS) / 60_000 + 1) * 60_000).toISOString()
  const site = /^\d+$/.test(filters.site ?? "") ? filters.site! : ""
  const ingestion = useAdmin<IngestionResponse>(`ingestion${queryOf({ from, site })}`, { refetchMs: 30_000 })
  return (
    <Page title="Ingestion">
      <FilterRow label="Events">
        <SelectField
          label="Period"
          value={hours}
          options={HOURS.map((value) => ({ value, label: value === "1" ? "Last hour" : `Last ${value} hours` }))}
          onValue={(value) => setFilters({ hours: value })}
        />
        <SiteField value={site} onValue={(value) => setFilters({ site: value })} />
      </FilterRow>
      <QueryResult of={ingestion} rows={6}>
        {(shown) => <Shown ingestion={shown} />}
      </QueryResult>
      {!ingestion.isLoading && <Samples reason={filters.reason ?? ""} onReason={(reason) => setFilters({ reason })} />}
    </Page>
  )
}

function Shown({ ingestion }: { ingestion: IngestionResponse }) {
  const { totals, queue_depth, commit, oldest_unsealed_at, data } = ingestion
  const outcomes = [
    { outcome: "Accepted", count: totals.accepted },
    ...Object.entries(totals.dropped).map(([reason, count]) => ({ outcome: DROP_REASON_LABELS[reason] ?? reason, count })),
    { outcome: "Refused: storage full", count: totals.refused_storage },
    { outcome: "Refused: queue full", count: totals.refused_queue },
  ]
  const busy = data.filter((minute) => !hasNone(minute)).reverse()
  return (
    <div class="stack">
      <Figures
        label="Ingestion figures"
        figures={[
          { label: "Accepted per second", value: acceptedPerSecond(ingestion), note: "last 5 minutes" },
          { label: "Waiting events", value: exact(queue_depth) },
          { label: "Commit time (p50)", value: commit ? `${exact(Math.round(commit.p50_ms))} ms` : "–" },
          { label: "Commit time (p99)", value: commit ? `${exact(Math.round(commit.p99_ms))} ms` : "–" },
          { label: "Oldest unsealed event", value: <TimeAgo at={oldest_unsealed_at} none="none" /> },
        ]}
      />
      <Part title="Events per minute">
        {busy.length === 0 ? <EmptyState>No events arrived in this period.</EmptyState> : <IngestChart minutes={data} />}
      </Part>
      <Part title="By result">
        <DataTable caption="Events by result" columns={OUTCOMES} rows={outcomes} keyOf={({ outcome }) => outcome} />
      </Part>
      {busy.length > 0 && (
        <Part title="By minute">
          <DataTable caption="Events by minute" columns={MINUTES} rows={busy} keyOf={({ at }) => at} />
        </Part>
      )}
    </div>
  )
}

const OUTCOMES: Column<{ outcome: string; count: number }>[] = [
  { id: "outcome", label: "Result", cell: ({ outcome }) => outcome },
  { id: "count", label: "Events", number: true, cell: ({ count }) => exact(count) },
]

const reasonsText = ({ dropped }: IngestionMinute): string =>
  Object.entries(dropped)
    .map(([reason, count]) => `${DROP_REASON_LABELS[reason] ?? reason} ${exact(count)}`)
    .join(", ")

const MINUTES: Column<IngestionMinute>[] = [
  {
    id: "at",
    label: "Minute",
    cell: (minute) => (
      <>
        <time dateTime={minute.at}>{timeText(minute.at)}</time>
        <SecondLine text={reasonsText(minute)} />
      </>
    ),
  },
  { id: "accepted", label: "Accepted", number: true, cell: ({ accepted }) => exact(accepted) },
  { id: "rejected", label: "Rejected", number: true, cell: (minute) => exact(rejectedOf(minute)) },
  { id: "reasons", label: "Reasons", wideOnly: true, cell: (minute) => <div>{reasonsText(minute)}</div> },
]

/** The latest dropped events of all sites, without data that identifies a visitor. */
function Samples({ reason, onReason }: { reason: string; onReason(reason: string): void }) {
  const samples = useAdmin<{ data: SampleResponse[] }>(`ingestion/rejected/sample${queryOf({ reason })}`)
  const names = useSiteNames()
  const reasons = Object.entries(DROP_REASON_LABELS).map(([value, label]) => ({ value, label }))
  return (
    <Part title="Recently dropped">
      <FilterRow label="Dropped events">
        <SelectField label="Reason" value={reason} options={[{ value: "", label: "Any" }, ...reasons]} onValue={onReason} />
      </FilterRow>
      <QueryResult of={samples} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>No recently dropped events{reason !== "" && " for this reason"}.</EmptyState>
          ) : (
            <DataTable caption="Dropped events" columns={samplesOf(names)} rows={data} keyOf={(sample) => JSON.stringify(sample)} />
          )
        }
      </QueryResult>
    </Part>
  )
}

const samplesOf = (names: ReadonlyMap<number, string>): Column<SampleResponse>[] => [
  { id: "at", label: "Time", cell: ({ at }) => <TimeAgo at={at} /> },
  {
    id: "site",
    label: "Site",
    wideOnly: true,
    cell: ({ site_id }) => <span class="whole">{site_id === 0 ? "none" : siteText(names, site_id)}</span>,
  },
  {
    id: "reason",
    label: "Reason",
    cell: ({ reason, host, page }) => (
      <div>
        {DROP_REASON_LABELS[reason] ?? reason}
        <SecondLine text={host + page} />
      </div>
    ),
  },
  { id: "host", label: "Host", wideOnly: true, cell: ({ host }) => visible(host) },
  { id: "page", label: "Page", wideOnly: true, cell: ({ page }) => visible(page) },
  { id: "browser", label: "Browser", wideOnly: true, cell: ({ browser_family }) => visible(browser_family) },
  { id: "country", label: "Country", wideOnly: true, cell: ({ country }) => visible(country) },
]
