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

/** The tracking pixels of the site: how often each was opened, and on which way. */
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
            Make a pixel
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
            ? "No pixel fits. Pixels that are archived are shown by their state."
            : "There are no pixels yet. A pixel is a picture that counts how often a mail, a feed, a README or a foreign page was opened."
        }
        step={
          isFiltered ? (
            <Button onClick={() => setFilters({ q: "", kind: "", state: "" })}>Clear the filters</Button>
          ) : (
            writes && (
              <Button icon="plus" onClick={() => setEditing({})}>
                Make the first pixel
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
      {select("kind", "Kind", [["", "All"], ...KINDS.map((kind) => [kind, KIND_WORDS[kind]] as const)])}
      {select("state", "State", [
        ["", "Active"],
        ["archived", "Archived"],
      ])}
      {select("sort", "Order", [
        ["", "Newest first"],
        ["opens", "Most opens first"],
        ["last_open", "Last open first"],
        ["name", "By name"],
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
  count("total", "Since it was made", ({ opens_total }) => opens_total),
  { id: "last", label: "Last open", cell: ({ last_open_at }) => <Moment at={last_open_at} /> },
  {
    id: "acts",
    label: "Acts",
    cell: (pixel) => (
      <div class="goal-acts">
        <IconButton icon="copy" label={`Copy the address of ${visible(pixel.name)}`} onClick={() => void copyText(pixel.url)} />
        {onEdit && <PixelMenu siteId={siteId} pixel={pixel} onEdit={() => onEdit(pixel)} />}
      </div>
    ),
  },
]
