import { Page } from "#plugin/ui"
import type { Session } from "./answers.ts"
import { useFilters, useRows } from "./list.ts"
import { FilterRow, SearchField } from "./parts.tsx"
import { SessionRows } from "./session-rows.tsx"

/** Everybody who is signed in. */
export default function Sessions() {
  const [filters, setFilters] = useFilters(["q"])
  return (
    <Page title="Sessions">
      <FilterRow label="Sessions">
        <SearchField label="User, device, place or network" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
      </FilterRow>
      <SessionRows
        of={useRows<Session>("sessions", filters)}
        empty={filters.q === undefined ? "Nobody is signed in." : "No session fits this search."}
      />
    </Page>
  )
}
