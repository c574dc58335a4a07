import {
  Button,
  type Column,
  DataTable,
  EmptyState,
  FilterRow,
  Page,
  QueryResult,
  queryOf,
  SearchField,
  SelectField,
  timeText,
  useFilters,
  visible,
} from "#plugin/ui"
import type { LogLineResponse } from "../../operation-responses.ts"
import { ADMIN, useAdmin } from "../queries.ts"

const LEVELS = [
  { value: "", label: "All" },
  { value: "info", label: "Info and above" },
  { value: "warn", label: "Warnings and errors" },
  { value: "error", label: "Errors" },
]
const LIMITS = ["200", "1000", "10000"] as const

/** Page of the latest log entries that are held in memory. Secrets are redacted. */
export default function Logs() {
  const [filters, setFilters] = useFilters(["level", "q", "limit"])
  const limit = LIMITS.find((one) => one === filters.limit) ?? LIMITS[0]
  const lines = useAdmin<{ data: LogLineResponse[] }>(`logs${queryOf({ ...filters, limit })}`)
  return (
    <Page
      title="Logs"
      actions={
        <>
          <Button busy={lines.isFetching} onClick={() => void lines.refetch()}>
            Refresh
          </Button>
          <a class="button" href={`${ADMIN}/diagnostics.zip`} download>
            Download diagnostics
          </a>
        </>
      }
    >
      <p class="quiet">
        Log entries since the last start, at most 10,000. The diagnostics file is meant for support: it contains state, settings and errors,
        but no IP addresses, email addresses or secrets.
      </p>
      <FilterRow label="Log entries">
        <SelectField label="Level" value={filters.level ?? ""} options={LEVELS} onValue={(level) => setFilters({ level })} />
        <SearchField label="Text" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
        <SelectField
          label="Entries"
          value={limit}
          options={LIMITS.map((value) => ({ value, label: value }))}
          onValue={(value) => setFilters({ limit: value })}
        />
      </FilterRow>
      <QueryResult of={lines} rows={9}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>
              {filters.level || filters.q ? "No log entries match these filters." : "No log entries since the last start."}
            </EmptyState>
          ) : (
            <LineTable lines={data} />
          )
        }
      </QueryResult>
    </Page>
  )
}

/** Table of log entries, newest first. */
export const LineTable = ({ lines }: { lines: readonly LogLineResponse[] }) => (
  <DataTable stacks caption="Log" columns={COLUMNS} rows={lines.map((line, index) => ({ ...line, index }))} keyOf={({ index }) => index} />
)

const COLUMNS: Column<LogLineResponse & { index: number }>[] = [
  { id: "at", label: "Time", cell: ({ at }) => <time dateTime={at}>{timeText(at)}</time> },
  { id: "level", label: "Level", cell: ({ level }) => (level === "error" ? <strong class="down">error</strong> : level) },
  { id: "message", label: "Message", cell: ({ message }) => <div>{visible(message)}</div> },
  {
    id: "fields",
    label: "Fields",
    cell: ({ fields = {} }) => <code>{Object.entries(fields).map(([name, value]) => `${name}=${visible(textOf(value))} `)}</code>,
  },
]

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
