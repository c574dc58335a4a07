import { useState } from "preact/hooks"
import type { AuditRowResponse } from "#plugin"
import {
  Button,
  type Column,
  DataTable,
  DescriptionList,
  Dialog,
  EmptyState,
  errorText,
  FilterRow,
  get,
  NO_VALUE,
  Page,
  PagedTable,
  queryOf,
  SearchField,
  SelectField,
  TextField,
  timeText,
  toast,
  useFilters,
  visible,
} from "#plugin/ui"
import { OrganizationField, SiteField } from "../fields.tsx"
import { withAny } from "../parts.tsx"
import { ADMIN, useRows } from "../queries.ts"

const NAMES = ["actor", "action", "target", "organization", "site", "from", "to", "ip", "outcome"]

/** Page of the audit log of the whole instance, with filters, export and verification. */
export default function Audit() {
  const [filters, setFilters] = useFilters(NAMES)
  const [shown, setShown] = useState<AuditRowResponse>()
  const search = (label: string, name: string) => (
    <SearchField label={label} value={filters[name] ?? ""} onValue={(value) => setFilters({ [name]: value })} />
  )
  const day = (label: string, name: string) => (
    <TextField label={label} type="date" value={filters[name] ?? ""} onValue={(value) => setFilters({ [name]: value })} />
  )
  return (
    <Page title="Audit" actions={<Tools query={queryOf(filters)} />}>
      <FilterRow label="Audit">
        {search("Actor (email or ID)", "actor")}
        {search("Action (links.* for a whole area)", "action")}
        {search("Target (type or type:ID)", "target")}
        <OrganizationField
          value={Number(filters.organization) || undefined}
          none="Any"
          onValue={(id) => setFilters({ organization: id === undefined ? "" : String(id) })}
        />
        <SiteField value={filters.site ?? ""} onValue={(site) => setFilters({ site })} />
        {search("IP network", "ip")}
        {day("From", "from")}
        {day("To", "to")}
        <SelectField
          label="Result"
          value={filters.outcome ?? ""}
          options={withAny(["ok", "failed"])}
          onValue={(outcome) => setFilters({ outcome })}
        />
      </FilterRow>
      <PagedTable
        stacks
        of={useRows<AuditRowResponse>("audit", filters)}
        caption="Audit"
        columns={columnsOf(setShown)}
        keyOf={({ id }) => id}
        empty="No audit entries match these filters."
      />
      {shown && <AuditDetails row={shown} onClose={() => setShown(undefined)} />}
    </Page>
  )
}

/** Exports of the filtered log, and the verification of its hash chain. */
function Tools({ query }: { query: string }) {
  const [busy, setBusy] = useState(false)
  const verify = async () => {
    setBusy(true)
    try {
      const { ok, rows, first_broken_id } = await get<{ ok: boolean; rows: number; first_broken_id?: number }>(`${ADMIN}/audit/verify`)
      toast(ok ? `Audit log verified: ${rows} entries are unchanged` : `Audit log verification failed at entry ${first_broken_id}`)
    } catch (error) {
      toast(errorText(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button busy={busy} onClick={() => void verify()}>
        Verify log
      </Button>
      <a class="button" href={`${ADMIN}/audit/export.csv${query}`} download>
        CSV
      </a>
      <a class="button" href={`${ADMIN}/audit/export.ndjson${query}`} download>
        NDJSON
      </a>
    </>
  )
}

const columnsOf = (show: (row: AuditRowResponse) => void): Column<AuditRowResponse>[] => [
  { id: "at", label: "Time", cell: ({ at }) => <time dateTime={at}>{timeText(at)}</time> },
  {
    id: "actor",
    label: "Actor",
    cell: ({ actor_kind, actor_email, impersonator_email }) => (
      <>
        <span class="address">{visible(actor_email || actor_kind)}</span>
        {impersonator_email !== null && <span class="small quiet"> (impersonated by {visible(impersonator_email)})</span>}
      </>
    ),
  },
  { id: "action", label: "Action", cell: ({ action }) => <code class="whole">{action}</code> },
  {
    id: "target",
    label: "Target",
    cell: ({ target_type, target_id, target_label }) => (
      <div>{visible([target_type, target_id, target_label].filter(Boolean).join(" "))}</div>
    ),
  },
  { id: "outcome", label: "Result", cell: ({ outcome }) => (outcome === "ok" ? "ok" : <strong class="down">{outcome}</strong>) },
  {
    id: "changes",
    label: "Changes",
    cell: (row) => (
      <Button aria-label={`${fieldsText(Object.keys(row.changes).length)} of entry ${row.id}`} onClick={() => show(row)}>
        {fieldsText(Object.keys(row.changes).length)}
      </Button>
    ),
  },
]

const fieldsText = (count: number): string => (count === 0 ? "Details" : count === 1 ? "1 field" : `${count} fields`)

/** Dialog with one audit entry: the changed fields before and after, and the origin of the request. */
export const AuditDetails = ({ row, onClose }: { row: AuditRowResponse; onClose(): void }) => {
  const changes = Object.entries(row.changes).map(([field, [before, after]]) => ({ field, before, after }))
  return (
    <Dialog title={row.action} onClose={onClose} wide>
      <div class="stack">
        {changes.length === 0 ? (
          <EmptyState>This entry has no changed fields.</EmptyState>
        ) : (
          <DataTable caption="Changes" columns={CHANGE_COLUMNS} rows={changes} keyOf={({ field }) => field} />
        )}
        <DescriptionList
          of={[
            ["Time", timeText(row.at)],
            ["Actor", visible(`${row.actor_email || row.actor_kind}${row.actor_id === null ? "" : ` (${row.actor_id})`}`)],
            ...(row.impersonator_email === null
              ? []
              : [["Impersonated by", visible(`${row.impersonator_email} (${row.impersonator_id})`)] as const]),
            ["Target", visible([row.target_type, row.target_id, row.target_label].filter(Boolean).join(" "))],
            ["Organization", row.organization_id === null ? "none" : String(row.organization_id)],
            ["Site", row.site_id === null ? "none" : String(row.site_id)],
            ["Network", visible(row.ip_prefix) || "none"],
            ["Browser", visible(row.user_agent) || "none"],
            ["Request ID", visible(row.request_id) || "none"],
          ]}
        />
      </div>
    </Dialog>
  )
}

const CHANGE_COLUMNS: Column<{ field: string; before: unknown; after: unknown }>[] = [
  { id: "field", label: "Field", cell: ({ field }) => <code>{visible(field)}</code> },
  { id: "before", label: "Before", cell: ({ before }) => <code>{valueText(before)}</code> },
  { id: "after", label: "After", cell: ({ after }) => <code>{valueText(after)}</code> },
]

const valueText = (value: unknown): string =>
  value === null || value === undefined ? NO_VALUE : visible(typeof value === "string" ? value : JSON.stringify(value))
