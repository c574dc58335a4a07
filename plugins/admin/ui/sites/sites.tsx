import {
  bytesText,
  type Column,
  exact,
  FilterRow,
  Page,
  PagedTable,
  SearchField,
  SortField,
  TimeAgo,
  useFilters,
  visible,
} from "#plugin/ui"
import type { SiteResponse } from "../../account-responses.ts"
import { OrganizationField } from "../fields.tsx"
import { useRows } from "../queries.ts"
import { SiteActions } from "./site-actions.tsx"

/** Page of all sites with event counts and sizes. It shows no visitor data. */
export default function Sites() {
  const [filters, setFilters] = useFilters(["q", "organization", "sort"])
  const organization = Number(filters.organization) || undefined
  const order = {
    columns: COLUMNS,
    sort: shownSort(filters.sort),
    onSort: (sort: string) => setFilters({ sort: sort.replace("-", "") }),
  }
  return (
    <Page title="Sites">
      <FilterRow label="Sites">
        <SearchField label="Name or host" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
        <OrganizationField
          value={organization}
          none="Any"
          onValue={(id) => setFilters({ organization: id === undefined ? "" : String(id) })}
        />
      </FilterRow>
      <SortField {...order} />
      <PagedTable
        stacks
        of={useRows<SiteResponse>("sites", { sort: "name", ...filters })}
        caption="Sites"
        keyOf={({ id }) => id}
        empty="No sites match these filters."
        {...order}
      />
    </Page>
  )
}

/** Sorts names ascending, sizes and counts descending. */
const shownSort = (sort = "name"): string => (sort === "name" ? sort : `-${sort}`)

const COLUMNS: Column<SiteResponse>[] = [
  {
    id: "name",
    label: "Site",
    sort: "name",
    cell: ({ id, name, hosts, deleted_at }) => (
      <>
        {visible(name)} <span class="quiet">{id}</span> {deleted_at && <span class="badge">deleted</span>}
        <br />
        <span class="small quiet">{hosts.map(visible).join(", ")}</span>
      </>
    ),
  },
  { id: "organization", label: "Organization", cell: ({ organization }) => visible(organization.name) },
  { id: "day", label: "Events, 24 h", number: true, cell: ({ events_24h }) => exact(events_24h) },
  { id: "month", label: "Events, 30 days", number: true, sort: "events_30d", cell: ({ events_30d }) => exact(events_30d) },
  { id: "bytes", label: "Size", number: true, sort: "bytes", cell: ({ bytes }) => bytesText(bytes) },
  { id: "last", label: "Last event", cell: ({ last_event_at }) => <TimeAgo at={last_event_at} /> },
  {
    id: "retention",
    label: "Retention",
    cell: ({ retention_days }) => (retention_days === null ? "default" : `${exact(retention_days)} days`),
  },
  { id: "actions", label: "Actions", cell: (site) => <SiteActions site={site} /> },
]
