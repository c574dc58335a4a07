import { Answer, Button, EmptyState, Page, SelectField } from "#plugin/ui"
import type { Line } from "./answers.ts"
import { useAdmin } from "./ask.ts"
import { LineTable } from "./line-table.tsx"
import { ADMIN, queryOf, useFilters } from "./list.ts"
import { FilterRow, SearchField } from "./parts.tsx"

const LEVELS = [
  { value: "", label: "All" },
  { value: "info", label: "Info and above" },
  { value: "warn", label: "Warnings and errors" },
  { value: "error", label: "Errors" },
]
const LIMITS = ["200", "1000", "10000"] as const

/** The last lines of the log, as far as memory holds them, without secrets. */
export default function Logs() {
  const [filters, setFilters] = useFilters(["level", "q", "limit"])
  const limit = LIMITS.find((one) => one === filters.limit) ?? LIMITS[0]
  const lines = useAdmin<{ data: Line[] }>(`logs${queryOf({ ...filters, limit })}`)
  return (
    <Page
      title="Logs"
      actions={
        <>
          <Button busy={lines.isFetching} onClick={() => void lines.refetch()}>
            Refresh
          </Button>
          <a class="button" href={`${ADMIN}/diagnostics.zip`} download>
            Diagnostics
          </a>
        </>
      }
    >
      <p class="quiet">
        Lines since the last start, at most 10,000. The diagnostics are a file for whoever helps: state, settings and errors, without
        addresses, e-mails and secrets.
      </p>
      <FilterRow label="Lines">
        <SelectField label="Level" value={filters.level ?? ""} options={LEVELS} onValue={(level) => setFilters({ level })} />
        <SearchField label="Text" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
        <SelectField
          label="Lines"
          value={limit}
          options={LIMITS.map((value) => ({ value, label: value }))}
          onValue={(value) => setFilters({ limit: value })}
        />
      </FilterRow>
      <Answer of={lines} rows={9}>
        {({ data }) => (data.length === 0 ? <EmptyState>No line of the log fits.</EmptyState> : <LineTable lines={data} />)}
      </Answer>
    </Page>
  )
}
