import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import {
  Button,
  FilterRow,
  Icon,
  MenuItem,
  Page,
  Popover,
  queryOf,
  Rows,
  SearchField,
  SelectField,
  useFilters,
  useRows,
  useSiteId,
} from "#plugin/ui"
import { type LinkListed, linksPath, useDomains, useRights } from "./answers.ts"
import { BulkBar } from "./bulk-bar.tsx"
import { linkColumns } from "./link-columns.tsx"

const Editor = lazy(() => import("./editor.tsx"))
const PANELS = {
  domains: { label: "Link domains", Panel: lazy(() => import("./domains.tsx")) },
  templates: { label: "Campaign templates", Panel: lazy(() => import("./templates.tsx")) },
  orphans: { label: "Requests without a link", Panel: lazy(() => import("./orphans.tsx")) },
  import: { label: "Import links", Panel: lazy(() => import("./import.tsx")) },
} as const
type PanelName = keyof typeof PANELS

/** List of the site's short links with their clicks by people and bots. */
export default function Links() {
  const siteId = useSiteId()
  const [filters, setFilters] = useFilters(["q", "tag", "state", "domain", "sort"])
  const rights = useRights(siteId)
  const [, navigate] = useLocation()
  const [editing, setEditing] = useState<{ link?: LinkListed }>()
  const [panel, setPanel] = useState<PanelName>()
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const list = useRows<LinkListed>(["links", siteId, "list"], linksPath(siteId), filters)
  const domains = useDomains(siteId).data?.data ?? []
  const isFiltered = queryOf({ ...filters, sort: "" }) !== ""
  const Panel = panel && PANELS[panel].Panel
  return (
    <Page
      title="Links"
      actions={
        <>
          <More writes={rights.writes} onOpen={setPanel} />
          {rights.writes && (
            <Button kind="primary" icon="plus" onClick={() => setEditing({})}>
              New link
            </Button>
          )}
        </>
      }
    >
      <Narrowing filters={filters} onFilters={setFilters} domains={domains} />
      {rights.writes && <BulkBar siteId={siteId} chosen={chosen} onDone={() => setChosen(new Set())} />}
      <Rows
        of={list}
        caption="Short links"
        columns={linkColumns({
          siteId,
          ...(rights.writes && { chosen, onChosen: setChosen, onEdit: (link: LinkListed) => setEditing({ link }) }),
          onTag: (tag) => setFilters({ tag }),
        })}
        keyOf={({ id }) => id}
        empty={
          isFiltered
            ? "No links match these filters. To see archived links, set the state to Archived."
            : "No short links yet. A short link redirects to a page and counts the clicks."
        }
        step={
          isFiltered ? (
            <Button onClick={() => setFilters({ q: "", tag: "", state: "", domain: "" })}>Clear filters</Button>
          ) : (
            rights.writes && (
              <Button icon="plus" onClick={() => setEditing({})}>
                Create your first link
              </Button>
            )
          )
        }
      />
      <Suspense fallback={<div class="progress-line" />}>
        {editing && (
          <Editor
            siteId={siteId}
            {...editing}
            onSaved={(link) => !editing.link && navigate(`/sites/${siteId}/links/${link.id}`)}
            onClose={() => setEditing(undefined)}
          />
        )}
        {Panel && <Panel siteId={siteId} onClose={() => setPanel(undefined)} />}
      </Suspense>
    </Page>
  )
}

function More({ writes, onOpen }: { writes: boolean; onOpen(panel: PanelName): void }) {
  const offered = (Object.keys(PANELS) as PanelName[]).filter((name) => writes || name !== "import")
  return (
    <Popover label="More about links" iconOnly button={<Icon name="more" />}>
      {(close) =>
        offered.map((name) => (
          <MenuItem
            key={name}
            onSelect={() => {
              close()
              onOpen(name)
            }}
          >
            {PANELS[name].label}
          </MenuItem>
        ))
      }
    </Popover>
  )
}

interface NarrowingProps {
  filters: Readonly<Record<string, string>>
  onFilters(changes: Record<string, string>): void
  domains: readonly { id: number; host: string }[]
}

function Narrowing({ filters, onFilters, domains }: NarrowingProps) {
  const select = (name: string, label: string, options: readonly (readonly [value: string, label: string])[]) => (
    <SelectField
      label={label}
      value={filters[name] ?? ""}
      onValue={(value) => onFilters({ [name]: value })}
      options={options.map(([value, text]) => ({ value, label: text }))}
    />
  )
  return (
    <FilterRow label="Short links">
      <SearchField label="Slug, title or destination" value={filters.q ?? ""} onValue={(q) => onFilters({ q })} />
      <SearchField label="Tag" value={filters.tag ?? ""} onValue={(tag) => onFilters({ tag })} />
      {select("state", "State", [
        ["", "Active and scheduled"],
        ["active", "Active"],
        ["expired", "Expired"],
        ["archived", "Archived"],
      ])}
      {select("sort", "Sort by", [
        ["", "Newest first"],
        ["clicks", "Most clicks first"],
        ["last_click", "Most recent click first"],
      ])}
      {domains.length > 0 && select("domain", "Domain", [["", "All"], ...domains.map(({ id, host }) => [String(id), host] as const)])}
    </FilterRow>
  )
}
