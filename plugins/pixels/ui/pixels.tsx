import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link, useLocation } from "wouter"
import {
  Button,
  type Column,
  canOnSite,
  copyText,
  exact,
  FilterRow,
  IconButton,
  Moment,
  Page,
  queryOf,
  Rows,
  SearchField,
  SelectField,
  short,
  useFilters,
  useMe,
  useRows,
  useSiteId,
  visible,
} from "#plugin/ui"
import { KINDS } from "../pixel.ts"
import { type PixelListed, pixelsPath } from "./answers.ts"
import { KIND_WORDS } from "./kinds.ts"
import { PixelMenu } from "./pixel-menu.tsx"

const PixelForm = lazy(() => import("./pixel-form.tsx"))

/** List of the site's tracking pixels with their opens by route. */
export default function Pixels() {
  const siteId = useSiteId()
  const writes = canOnSite(useMe(), siteId, "pixels:write")
  const [, navigate] = useLocation()
  const [filters, setFilters] = useFilters(["q", "kind", "state", "sort"])
  const [editing, setEditing] = useState<{ pixel?: PixelListed }>()
  const list = useRows<PixelListed>(["pixels", siteId, "list"], pixelsPath(siteId), { state: "active", ...filters })
  const isFiltered = queryOf({ ...filters, sort: "" }) !== ""
  return (
    <Page
      title="Pixels"
      actions={
        writes && (
          <Button kind="primary" icon="plus" onClick={() => setEditing({})}>
            New pixel
          </Button>
        )
      }
    >
      <Narrowing filters={filters} onFilters={setFilters} />
      <Rows
        of={list}
        caption="Tracking pixels"
        columns={columnsFor(siteId, writes ? (pixel) => setEditing({ pixel }) : undefined)}
        keyOf={({ id }) => id}
        empty={
          isFiltered
            ? "No pixels match these filters. To see archived pixels, set the state to Archived."
            : "No pixels yet. A pixel is an image that counts how often an email, feed, README or someone else's page is opened."
        }
        step={
          isFiltered ? (
            <Button onClick={() => setFilters({ q: "", kind: "", state: "" })}>Clear filters</Button>
          ) : (
            writes && (
              <Button icon="plus" onClick={() => setEditing({})}>
                Create your first pixel
              </Button>
            )
          )
        }
      />
      {editing && (
        <Suspense fallback={<div class="progress-line" />}>
          <PixelForm
            siteId={siteId}
            {...editing}
            onSaved={({ id }) => !editing.pixel && navigate(`/sites/${siteId}/pixels/${id}`)}
            onClose={() => setEditing(undefined)}
          />
        </Suspense>
      )}
    </Page>
  )
}

interface NarrowingProps {
  filters: Readonly<Record<string, string>>
  onFilters(changes: Record<string, string>): void
}

function Narrowing({ filters, onFilters }: NarrowingProps) {
  const select = (name: string, label: string, options: readonly (readonly [value: string, label: string])[]) => (
    <SelectField
      label={label}
      value={filters[name] ?? ""}
      onValue={(value) => onFilters({ [name]: value })}
      options={options.map(([value, text]) => ({ value, label: text }))}
    />
  )
  return (
    <FilterRow label="Tracking pixels">
      <SearchField label="Name or slug" value={filters.q ?? ""} onValue={(q) => onFilters({ q })} />
      {select("kind", "Used in", [["", "All"], ...KINDS.map((kind) => [kind, KIND_WORDS[kind]] as const)])}
      {select("state", "State", [
        ["", "Active"],
        ["archived", "Archived"],
      ])}
      {select("sort", "Sort by", [
        ["", "Newest first"],
        ["opens", "Most opens first"],
        ["last_open", "Most recent open first"],
        ["name", "Name"],
      ])}
    </FilterRow>
  )
}

const count = (id: string, label: string, of: (pixel: PixelListed) => number): Column<PixelListed> => ({
  id,
  label,
  number: true,
  cell: (pixel) => <span title={exact(of(pixel))}>{short(of(pixel))}</span>,
})

const columnsFor = (siteId: number, onEdit: ((pixel: PixelListed) => void) | undefined): Column<PixelListed>[] => [
  {
    id: "name",
    label: "Pixel",
    cell: ({ id, name, kind, archived }) => (
      <div class="link-name">
        <div>
          <Link href={`/sites/${siteId}/pixels/${id}`}>{visible(name)}</Link>
          {archived && (
            <>
              {" "}
              <span class="badge">archived</span>
            </>
          )}
          <p class="small quiet">{KIND_WORDS[kind]}</p>
        </div>
      </div>
    ),
  },
  count("direct", "Direct, 30 days", ({ recent }) => recent.opens_direct),
  count("proxied", "Proxied", ({ recent }) => recent.opens_proxied),
  count("prefetched", "Prefetched", ({ recent }) => recent.opens_prefetched),
  count("bots", "Bots", ({ recent }) => recent.bots),
  count("total", "All time", ({ opens_total }) => opens_total),
  { id: "last", label: "Last open", cell: ({ last_open_at }) => <Moment at={last_open_at} /> },
  {
    id: "actions",
    label: "Actions",
    cell: (pixel) => (
      <div class="goal-acts">
        <IconButton icon="copy" label={`Copy the URL of ${visible(pixel.name)}`} onClick={() => void copyText(pixel.url)} />
        {onEdit && <PixelMenu siteId={siteId} pixel={pixel} onEdit={() => onEdit(pixel)} />}
      </div>
    ),
  },
]
