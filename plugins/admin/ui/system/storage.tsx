import { useLocation } from "wouter"
import { bytesText, type Column, DataTable, EmptyState, exact, Page, post, QueryResult, SecondLine } from "#plugin/ui"
import type { JobResponse, StorageResponse } from "../../operation-responses.ts"
import { siteText, useSiteNames } from "../fields.tsx"
import { ConfirmedAction, Part, sentenceCase } from "../parts.tsx"
import { ADMIN, useAdmin } from "../queries.ts"
import { Figures } from "./figures.tsx"
import { forecastText } from "./overview.tsx"

type Store = NonNullable<StorageResponse["catalog"]>

/** Page of the disk space that stores, tables and sites use, with growth and forecast. */
export default function StoragePage() {
  const storage = useAdmin<StorageResponse>("storage")
  return (
    <Page title="Storage">
      <QueryResult of={storage} rows={9}>
        {(shown) => <Shown storage={shown} />}
      </QueryResult>
    </Page>
  )
}

const Shown = ({ storage: { catalog, events, sites, disk } }: { storage: StorageResponse }) => (
  <div class="stack">
    <Figures
      label="Storage figures"
      figures={[
        { label: "Free disk space", value: bytesText(disk.free_bytes), note: `of ${bytesText(disk.total_bytes)}` },
        { label: "Forecast", value: disk.days_to_full === null ? "–" : exact(disk.days_to_full), note: forecastText(disk.days_to_full) },
        { label: "Event store", value: bytesText(events.bytes), note: growthText(events) },
        { label: "Catalog", value: catalog ? bytesText(catalog.bytes) : "remote", note: catalog ? growthText(catalog) : "on a server" },
      ]}
    />
    <Part title="By site">
      <SiteSizes sites={sites} />
    </Part>
    <StorePart title="Event store" store="events" size={events} />
    {catalog && <StorePart title="Catalog" store="catalog" size={catalog} />}
  </div>
)

const growthText = ({ bytes_per_day, wal_bytes }: Store): string =>
  `${bytes_per_day === null ? "growth not known yet" : `${bytesText(Math.max(0, bytes_per_day))} per day`}, log ${bytesText(wal_bytes)}`

function SiteSizes({ sites }: Pick<StorageResponse, "sites">) {
  const names = useSiteNames()
  if (sites.length === 0) return <EmptyState>No sealed events yet.</EmptyState>
  return <DataTable caption="Size by site" columns={columnsOf(names)} rows={sites} keyOf={({ site_id, kind }) => `${site_id} ${kind}`} />
}

const columnsOf = (names: ReadonlyMap<number, string>): Column<StorageResponse["sites"][number]>[] => [
  {
    id: "site",
    label: "Site",
    cell: ({ site_id, kind }) => (
      <>
        {siteText(names, site_id)}
        <SecondLine text={sentenceCase(kind)} />
      </>
    ),
  },
  { id: "kind", label: "Kind", wideOnly: true, cell: ({ kind }) => sentenceCase(kind) },
  { id: "segments", label: "Segments", number: true, wideOnly: true, cell: ({ segments }) => exact(segments) },
  { id: "visits", label: "Visits", number: true, wideOnly: true, cell: ({ visits }) => exact(visits) },
  { id: "events", label: "Events", number: true, cell: ({ events }) => exact(events) },
  { id: "bytes", label: "Size", number: true, cell: ({ bytes }) => bytesText(bytes) },
  {
    id: "growth",
    label: "Growth per day",
    number: true,
    wideOnly: true,
    cell: ({ bytes_per_day }) => (bytes_per_day === null ? "–" : bytesText(Math.max(0, bytes_per_day))),
  },
]

function StorePart({ title, store, size }: { title: string; store: "catalog" | "events"; size: Store }) {
  const [, navigate] = useLocation()
  const start = (operation: "vacuum" | "analyze") => async () => {
    const { id } = await post<JobResponse>(`${ADMIN}/storage/${operation}`, { store })
    navigate(`/admin/jobs/${id}`)
  }
  const tables = [...size.tables].sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0) || b.rows - a.rows)
  return (
    <Part title={title}>
      <div class="row">
        <ConfirmedAction
          kind="plain"
          label="Compact"
          about={title}
          title={`Compact the ${title.toLowerCase()}`}
          act="Compact"
          onConfirm={start("vacuum")}
        >
          <p>Returns unused space to the disk. Needs free space of the store's size and takes minutes for large stores.</p>
        </ConfirmedAction>
        <ConfirmedAction
          kind="plain"
          label="Analyze"
          about={title}
          title={`Analyze the ${title.toLowerCase()}`}
          act="Analyze"
          onConfirm={start("analyze")}
        >
          <p>Updates the statistics that the store uses to plan queries.</p>
        </ConfirmedAction>
      </div>
      <DataTable caption={`Tables: ${title}`} columns={TABLES} rows={tables} keyOf={({ table }) => table} />
    </Part>
  )
}

const TABLES: Column<Store["tables"][number]>[] = [
  { id: "table", label: "Table", cell: ({ table }) => <code>{table}</code> },
  { id: "rows", label: "Rows", number: true, cell: ({ rows }) => exact(rows) },
  { id: "bytes", label: "Size", number: true, cell: ({ bytes }) => bytesText(bytes ?? undefined) },
]
