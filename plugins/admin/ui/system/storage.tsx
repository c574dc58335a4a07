import { useLocation } from "wouter"
import { Answer, bytesText, type Column, DataTable, EmptyState, exact, Page, post } from "#plugin/ui"
import { AskedAct } from "./act.tsx"
import type { Job, Storage } from "./answers.ts"
import { useAdmin } from "./ask.ts"
import { Figures } from "./figures.tsx"
import { ADMIN } from "./list.ts"
import { forecastText } from "./overview.tsx"
import { Part, sentenceCase } from "./parts.tsx"
import { siteText, useSiteNames } from "./site-field.tsx"

type Store = NonNullable<Storage["catalog"]>

/** What stores, tables and sites take, how they grow, and for how long it is enough. */
export default function StoragePage() {
  const storage = useAdmin<Storage>("storage")
  return (
    <Page title="Storage">
      <Answer of={storage} rows={9}>
        {(shown) => <Shown storage={shown} />}
      </Answer>
    </Page>
  )
}

const Shown = ({ storage: { catalog, events, sites, disk } }: { storage: Storage }) => (
  <div class="stack">
    <Figures
      label="Figures of storage"
      figures={[
        { label: "Disk left", value: bytesText(disk.free_bytes), note: `of ${bytesText(disk.total_bytes)}` },
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
  `${bytes_per_day === null ? "growth not known yet" : `${bytesText(Math.max(0, bytes_per_day))} a day`}, log ${bytesText(wal_bytes)}`

function SiteSizes({ sites }: Pick<Storage, "sites">) {
  const names = useSiteNames()
  if (sites.length === 0) return <EmptyState>No site has events in columnar segments yet.</EmptyState>
  return <DataTable caption="Size by site" columns={columnsOf(names)} rows={sites} keyOf={({ site_id, kind }) => `${site_id} ${kind}`} />
}

const columnsOf = (names: ReadonlyMap<number, string>): Column<Storage["sites"][number]>[] => [
  { id: "site", label: "Site", cell: ({ site_id }) => siteText(names, site_id) },
  { id: "kind", label: "Kind", cell: ({ kind }) => sentenceCase(kind) },
  { id: "segments", label: "Segments", number: true, cell: ({ segments }) => exact(segments) },
  { id: "visits", label: "Visits", number: true, cell: ({ visits }) => exact(visits) },
  { id: "events", label: "Events", number: true, cell: ({ events }) => exact(events) },
  { id: "bytes", label: "Size", number: true, cell: ({ bytes }) => bytesText(bytes) },
  {
    id: "growth",
    label: "A day",
    number: true,
    cell: ({ bytes_per_day }) => (bytes_per_day === null ? "–" : bytesText(Math.max(0, bytes_per_day))),
  },
]

function StorePart({ title, store, size }: { title: string; store: "catalog" | "events"; size: Store }) {
  const [, navigate] = useLocation()
  const begin = (what: "vacuum" | "analyze") => async () => {
    const { id } = await post<Job>(`${ADMIN}/storage/${what}`, { store })
    navigate(`/admin/jobs/${id}`)
  }
  const tables = [...size.tables].sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0) || b.rows - a.rows)
  return (
    <Part title={title}>
      <div class="row">
        <AskedAct
          kind="plain"
          label="Compact"
          about={title}
          title={`Compact the ${title.toLowerCase()}`}
          act="Compact"
          onConfirm={begin("vacuum")}
        >
          <p>Free space goes back to the disk. It needs room of the store's size, and takes minutes for large ones.</p>
        </AskedAct>
        <AskedAct
          kind="plain"
          label="Analyze"
          about={title}
          title={`Analyze the ${title.toLowerCase()}`}
          act="Analyze"
          onConfirm={begin("analyze")}
        >
          <p>Counts how values are spread, so that the store finds them on the shortest way.</p>
        </AskedAct>
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
