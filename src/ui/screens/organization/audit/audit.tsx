import { useInfiniteQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { AuditRowShown } from "../../../domain/audit.ts"
import { get } from "../../api.ts"
import { timeText } from "../../format.ts"
import { Button } from "../../parts/button.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState, ErrorState, Skeleton, sentenceOf } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { saveFile } from "../../save-file.ts"
import { toast } from "../../toasts.ts"
import { type AuditFormat, auditFile } from "./audit-file.ts"
import { type AuditFilters, AuditFiltersForm, asQuery, NO_FILTERS } from "./audit-filters.tsx"
import { actionWords, changesOf, type FieldChange } from "./audit-words.ts"
import { type OwnSite, organizationPath, type SectionProps, useOwnSites } from "./own-organization.ts"

interface AuditPage {
  data: AuditRowShown[]
  next_cursor: string | null
}

const A_PAGE = 50

/** Who changed what, newest first. */
export function Audit({ organization }: SectionProps) {
  const sites = useOwnSites(organization.id)
  const [filters, setFilters] = useState<AuditFilters>(NO_FILTERS)
  const path = `${organizationPath(organization.id)}/audit?${asQuery(filters)}`
  const list = useInfiniteQuery({
    queryKey: ["audit", organization.id, filters],
    queryFn: ({ pageParam, signal }) => get<AuditPage>(`${path}limit=${A_PAGE}${cursorOf(pageParam)}`, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
  const rows = list.data?.pages.flatMap(({ data }) => data)
  const isFiltered = asQuery(filters) !== ""
  return (
    <Page title="Audit" actions={<Files path={path} />}>
      <AuditFiltersForm sites={sites} shown={filters} onFilters={setFilters} />
      {rows ? (
        rows.length === 0 ? (
          <EmptyState action={isFiltered && <Button onClick={() => setFilters(NO_FILTERS)}>Clear the filters</Button>}>
            {isFiltered ? "Nothing in the log is like that." : "Nothing was changed yet."}
          </EmptyState>
        ) : (
          <div class="stack" aria-busy={list.isFetching}>
            <DataTable caption="Audit log" rows={rows} keyOf={({ id }) => id} columns={columnsOf(sites)} />
            {list.hasNextPage && (
              <div class="row">
                <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                  Older
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

const columnsOf = (sites: readonly OwnSite[]): Column<AuditRowShown>[] => [
  {
    id: "at",
    label: "When",
    cell: ({ at }) => (
      <time class="number" dateTime={at}>
        {timeText(at)}
      </time>
    ),
  },
  {
    id: "actor",
    label: "Who",
    cell: ({ actor_kind, actor_email, impersonator_email, ip_prefix }) => (
      <>
        <div>{actor_kind === "system" ? "the instance" : visible(actor_email)}</div>
        {impersonator_email && <div class="small quiet">{visible(impersonator_email)}, looking as them</div>}
        {actor_kind === "cli" && <div class="small quiet">on the command line</div>}
        {ip_prefix && <div class="small quiet">{visible(ip_prefix)}</div>}
      </>
    ),
  },
  {
    id: "action",
    label: "What",
    cell: ({ action, target_label, site_id, outcome }) => (
      <>
        <div title={action}>{actionWords(action)}</div>
        <div>{visible(target_label)}</div>
        {site_id !== null && <div class="small quiet">{visible(sites.find(({ id }) => id === site_id)?.name ?? `site ${site_id}`)}</div>}
        {outcome === "failed" && <div class="down">failed</div>}
      </>
    ),
  },
  { id: "changes", label: "Before and after", cell: (row) => <Changes row={row} /> },
]

/** So many fields are shown at once; the others when they are asked for. */
const FIELDS = 4

function Changes({ row }: { row: AuditRowShown }) {
  const fields = changesOf(row)
  return fields.length > FIELDS ? (
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
/** A file holds so many rows at most; the log of years is better asked for in parts. */
const MOST = 20_000

function Files({ path }: { path: string }) {
  const [busy, setBusy] = useState<AuditFormat>()
  const save = async (format: AuditFormat) => {
    setBusy(format)
    try {
      const rows = await rowsOf(path)
      saveFile(`audit.${format}`, new Blob([auditFile(rows, format)], { type: TYPES[format] }))
      if (rows.length >= MOST) toast(`The file holds the newest ${MOST} rows. Narrow the days for older ones.`)
    } catch (error) {
      toast(`The file was not made. ${sentenceOf(error as Error)}`)
    } finally {
      setBusy(undefined)
    }
  }
  return (
    <>
      <Button icon="download" busy={busy === "csv"} onClick={() => void save("csv")}>
        CSV
      </Button>
      <Button icon="download" busy={busy === "ndjson"} onClick={() => void save("ndjson")}>
        NDJSON
      </Button>
    </>
  )
}

/** Everything that matches, not only what is shown. */
async function rowsOf(path: string): Promise<AuditRowShown[]> {
  const rows: AuditRowShown[] = []
  let cursor: string | null = null
  do {
    const page: AuditPage = await get<AuditPage>(`${path}limit=200${cursorOf(cursor)}`)
    rows.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null && rows.length < MOST)
  return rows
}
