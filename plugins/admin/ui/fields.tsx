/** Fields that choose a site or an organization, and the table of data that a deletion would remove. */

import { useQuery } from "@tanstack/react-query"
import { bytesText, type Column, counted, DataTable, dayText, EmptyState, exact, getAll, SelectField, visible } from "#plugin/ui"
import type { OrganizationResponse } from "../account-responses.ts"
import type { PreviewResponse } from "../operation-responses.ts"
import { ADMIN, useAdmin } from "./queries.ts"

/** Returns the names of all sites by id. They come from the retention route, the cheapest one that lists all sites. */
export function useSiteNames(): ReadonlyMap<number, string> {
  const { data } = useAdmin<{ sites: { site_id: number; name: string }[] }>("retention")
  return new Map(data?.sites.map(({ site_id, name }) => [site_id, visible(name)]))
}

/** Returns the name of a site for tables; of a deleted site only the id is known. */
export const siteText = (names: ReadonlyMap<number, string>, id: number): string =>
  names.has(id) ? `${names.get(id)} (${id})` : `Site ${id}`

/** Select field for one site or any. */
export function SiteField({ value, onValue }: { value: string; onValue(id: string): void }) {
  const names = useSiteNames()
  const chosen = Number(value)
  const ids = [...new Set([...names.keys(), ...(value === "" ? [] : [chosen])])]
  return (
    <SelectField
      label="Site"
      value={value}
      options={[{ value: "", label: "Any" }, ...ids.map((id) => ({ value: String(id), label: siteText(names, id) }))]}
      onValue={onValue}
    />
  )
}

/** Fetches all organizations of the instance. */
const useOrganizations = () =>
  useQuery({
    queryKey: ["admin", "organizations", "all"],
    queryFn: ({ signal }) => getAll<OrganizationResponse>(`${ADMIN}/organizations?`, signal),
  })

interface OrganizationFieldProps {
  label?: string
  value: number | undefined
  onValue(id: number | undefined): void
  error?: string | undefined
  /** Label of the empty choice. */
  none?: string
}

/** Select field for one organization or none. */
export function OrganizationField({ label = "Organization", value, onValue, error, none = "None yet" }: OrganizationFieldProps) {
  const { data = [] } = useOrganizations()
  return (
    <SelectField
      label={label}
      value={value === undefined ? "" : String(value)}
      options={[{ value: "", label: none }, ...data.map(({ id, name }) => ({ value: String(id), label: name }))]}
      onValue={(id) => onValue(id === "" ? undefined : Number(id))}
      error={error}
    />
  )
}

type Row = PreviewResponse["by"][number]

/** Returns the data that a deletion would remove, such as `1,204 events and 300 imported totals`. "" if there is none. */
export function deletedText({ by }: PreviewResponse): string {
  const events = by.reduce((sum, row) => sum + row.events, 0)
  const totals = by.reduce((sum, { kind, rows }) => sum + (kind === "imported_totals" ? rows : 0), 0)
  return [events > 0 && counted(events, "event"), totals > 0 && counted(totals, "imported total")].filter(Boolean).join(" and ")
}

/** What a deletion of old data would remove, by site and kind, and the number of rows per plugin. */
export function PreviewTable({ preview }: { preview: PreviewResponse }) {
  const names = useSiteNames()
  const rows = preview.by.filter(({ events, rows }) => events > 0 || rows > 0)
  const plugins = preview.plugins.filter((area) => area.rows > 0)
  if (rows.length === 0 && plugins.length === 0) return <EmptyState>No data is older than that.</EmptyState>
  return (
    <div class="stack">
      <DataTable caption="Data to be deleted" columns={columnsOf(names)} rows={rows} keyOf={({ site_id, kind }) => `${site_id} ${kind}`} />
      <p class="quiet">
        About {bytesText(preview.bytes)} in total.
        {plugins.map(({ id, rows: count }) => ` ${id}: ${exact(count)} rows.`)}
      </p>
    </div>
  )
}

const columnsOf = (names: ReadonlyMap<number, string>): Column<Row>[] => [
  { id: "site", label: "Site", cell: ({ site_id }) => siteText(names, site_id) },
  { id: "kind", label: "Kind", cell: ({ kind }) => kind.replace("_", " ") },
  { id: "cutoff", label: "Before", cell: ({ cutoff }) => dayText(cutoff) },
  { id: "days", label: "Days", number: true, cell: ({ days }) => exact(days) },
  { id: "rows", label: "Rows", number: true, cell: ({ rows }) => exact(rows) },
  { id: "events", label: "Events", number: true, cell: ({ events }) => exact(events) },
]
