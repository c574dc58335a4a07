import { useInfiniteQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { AuditRowResponse } from "../../../../domain/audit.ts"
import type { PrivatePage } from "../../../../domain/response.ts"
import { get } from "../../../api/api.ts"
import { saveFile } from "../../../browser/files.ts"
import { Button } from "../../../parts/button.tsx"
import { type Column, DataTable } from "../../../parts/data-table.tsx"
import { SelectField, TextField } from "../../../parts/form/fields.tsx"
import { Page } from "../../../parts/page.tsx"
import { EmptyState, ErrorState, errorText, Skeleton } from "../../../parts/states.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { timeText } from "../../../text/format.ts"
import { visible } from "../../../text/safe-text.tsx"
import { type OwnSite, organizationPath, type SectionProps, useOwnSites } from "../own-organization.ts"
import { type AuditFormat, actionText, auditFile, changesOf, type FieldChange } from "./audit-entries.ts"

const PAGE_SIZE = 50

/** Shows the audit log, newest first. */
export function Audit({ organization }: SectionProps) {
  const sites = useOwnSites(organization.id)
  const [filters, setFilters] = useState<AuditFilters>(NO_FILTERS)
  const path = `${organizationPath(organization.id)}/audit?${asQuery(filters)}`
  const list = useInfiniteQuery({
    queryKey: ["audit", organization.id, filters],
    queryFn: ({ pageParam, signal }) => get<PrivatePage<AuditRowResponse>>(`${path}limit=${PAGE_SIZE}${cursorOf(pageParam)}`, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
  const rows = list.data?.pages.flatMap(({ data }) => data)
  const isFiltered = asQuery(filters) !== ""
  return (
    <Page title="Audit log" actions={<ExportButtons path={path} />}>
      <AuditFiltersForm sites={sites} shown={filters} onFilters={setFilters} />
      {rows ? (
        rows.length === 0 ? (
          <EmptyState action={isFiltered && <Button onClick={() => setFilters(NO_FILTERS)}>Clear filters</Button>}>
            {isFiltered ? "No entries match these filters." : "No entries yet. Changes to members, keys, settings and sites appear here."}
          </EmptyState>
        ) : (
          <div class="stack" aria-busy={list.isFetching}>
            <DataTable stacks caption="Audit log" rows={rows} keyOf={({ id }) => id} columns={columnsOf(sites)} />
            {list.hasNextPage && (
              <div class="row">
                <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                  Show older entries
                </Button>
              </div>
            )}
          </div>
        )
      ) : list.error ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Skeleton rows={9} />
      )}
    </Page>
  )
}

const cursorOf = (cursor: string | null): string => (cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`)

const columnsOf = (sites: readonly OwnSite[]): Column<AuditRowResponse>[] => [
  {
    id: "at",
    label: "Time",
    cell: ({ at }) => (
      <time class="number" dateTime={at}>
        {timeText(at)}
      </time>
    ),
  },
  {
    id: "actor",
    label: "Actor",
    cell: ({ actor_kind, actor_email, impersonator_email, ip_prefix }) => (
      <>
        <div>{actor_kind === "system" ? "System" : visible(actor_email)}</div>
        {impersonator_email && <div class="small quiet">impersonated by {visible(impersonator_email)}</div>}
        {actor_kind === "cli" && <div class="small quiet">command line</div>}
        {ip_prefix && <div class="small quiet">{visible(ip_prefix)}</div>}
      </>
    ),
  },
  {
    id: "action",
    label: "Action",
    cell: ({ action, target_label, site_id, outcome }) => (
      <>
        <div title={action}>{actionText(action)}</div>
        <div>{visible(target_label)}</div>
        {site_id !== null && <div class="small quiet">{visible(sites.find(({ id }) => id === site_id)?.name ?? `site ${site_id}`)}</div>}
        {outcome === "failed" && <div class="down">failed</div>}
      </>
    ),
  },
  { id: "changes", label: "Changes", cell: (row) => <Changes row={row} /> },
]

/** Maximum number of changed fields that are shown without expanding. */
const MAX_FIELDS = 4

function Changes({ row }: { row: AuditRowResponse }) {
  const fields = changesOf(row)
  return fields.length > MAX_FIELDS ? (
    <details class="small">
      <summary>{fields.length} fields</summary>
      <FieldChanges fields={fields} />
    </details>
  ) : (
    <FieldChanges fields={fields} />
  )
}

const FieldChanges = ({ fields }: { fields: readonly FieldChange[] }) => (
  <ul class="small audit-changes">
    {fields.map(({ field, before, after }) => (
      <li key={field}>
        <span class="quiet">{visible(field)}:</span> {before !== undefined && `${visible(before)} → `}
        {visible(after)}
      </li>
    ))}
  </ul>
)

const TYPES: Readonly<Record<AuditFormat, string>> = { csv: "text/csv", ndjson: "application/x-ndjson" }
/** Maximum number of rows in a file. */
const MAX_ROWS = 20_000

function ExportButtons({ path }: { path: string }) {
  const [busy, setBusy] = useState<AuditFormat>()
  const save = async (format: AuditFormat) => {
    setBusy(format)
    try {
      const rows = await rowsOf(path)
      saveFile(`audit.${format}`, new Blob([auditFile(rows, format)], { type: TYPES[format] }))
      if (rows.length >= MAX_ROWS) toast(`The file contains the newest ${MAX_ROWS} entries. Choose a shorter date range for older ones.`)
    } catch (error) {
      toast(`The export failed. ${errorText(error as Error)}`)
    } finally {
      setBusy(undefined)
    }
  }
  return (
    <>
      <Button icon="download" busy={busy === "csv"} onClick={() => void save("csv")}>
        Export CSV
      </Button>
      <Button icon="download" busy={busy === "ndjson"} onClick={() => void save("ndjson")}>
        Export NDJSON
      </Button>
    </>
  )
}

/** Fetches all rows that match, not only those shown. */
async function rowsOf(path: string): Promise<AuditRowResponse[]> {
  const rows: AuditRowResponse[] = []
  let cursor: string | null = null
  do {
    const page: PrivatePage<AuditRowResponse> = await get<PrivatePage<AuditRowResponse>>(`${path}limit=200${cursorOf(cursor)}`)
    rows.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null && rows.length < MAX_ROWS)
  return rows
}

/** Filters as the API expects them. An empty value matches everything. */
interface AuditFilters {
  actor: string
  action: string
  site: string
  from: string
  to: string
  outcome: string
}
const NO_FILTERS: AuditFilters = { actor: "", action: "", site: "", from: "", to: "", outcome: "" }

/** Returns the filters as query parameters, each followed by `&`. Empty without filters. */
const asQuery = (filters: AuditFilters): string =>
  Object.entries(filters)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}&`)
    .join("")

/** Groups of actions. `*` matches any suffix. */
const ACTIONS = [
  { value: "", label: "All actions" },
  { value: "accounts.member.*", label: "Members" },
  { value: "accounts.invitation.*", label: "Invitations" },
  { value: "accounts.api_key.*", label: "API keys" },
  { value: "accounts.organization.*", label: "Organization settings" },
  { value: "accounts.provider.*", label: "Identity providers" },
  { value: "accounts.mail_domain.*", label: "Email domains" },
  { value: "sites.*", label: "Sites" },
]

interface AuditFiltersFormProps {
  sites: readonly OwnSite[]
  shown: AuditFilters
  onFilters(filters: AuditFilters): void
}

/** Renders the filters of the audit log. They are applied together, because searching the log is slow. */
function AuditFiltersForm({ sites, shown, onFilters }: AuditFiltersFormProps) {
  const [draft, setDraft] = useState(shown)
  const set = (name: keyof AuditFilters) => (value: string) => setDraft({ ...draft, [name]: value })
  return (
    <form
      class="audit-filters"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault()
        onFilters({ ...draft, actor: draft.actor.trim() })
      }}
    >
      <TextField label="Actor (email)" value={draft.actor} onValue={set("actor")} type="search" />
      <SelectField label="Action" value={draft.action} onValue={set("action")} options={ACTIONS} />
      <SelectField
        label="Site"
        value={draft.site}
        onValue={set("site")}
        options={[{ value: "", label: "All sites" }, ...sites.map(({ id, name }) => ({ value: String(id), label: visible(name) }))]}
      />
      <TextField label="From" type="date" value={draft.from} onValue={set("from")} />
      <TextField label="To" type="date" value={draft.to} onValue={set("to")} />
      <SelectField
        label="Outcome"
        value={draft.outcome}
        onValue={set("outcome")}
        options={[
          { value: "", label: "Any" },
          { value: "ok", label: "Succeeded" },
          { value: "failed", label: "Failed" },
        ]}
      />
      <div class="row">
        <Button type="submit">Apply filters</Button>
        <Button
          kind="quiet"
          onClick={() => {
            setDraft(NO_FILTERS)
            onFilters(NO_FILTERS)
          }}
        >
          Clear filters
        </Button>
      </div>
    </form>
  )
}
