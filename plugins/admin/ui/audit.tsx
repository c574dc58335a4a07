import { useState } from "preact/hooks"
import { Button, type Column, get, Page, SelectField, sentenceOf, TextField, timeText, toast, visible } from "#plugin/ui"
import { AuditDetails, type AuditRow } from "./audit-details.tsx"
import { ADMIN, queryOf, useFilters, useRows } from "./list.ts"
import { OrganizationField } from "./organization-field.tsx"
import { FilterRow, SearchField, withAny } from "./parts.tsx"
import { Rows } from "./rows.tsx"
import { SiteField } from "./site-field.tsx"

const NAMES = ["actor", "action", "target", "organization", "site", "from", "to", "ip", "outcome"]

/** Who changed what on the whole instance, and whether the log is whole. */
export default function Audit() {
  const [filters, setFilters] = useFilters(NAMES)
  const [shown, setShown] = useState<AuditRow>()
  const search = (label: string, name: string) => (
    <SearchField label={label} value={filters[name] ?? ""} onValue={(value) => setFilters({ [name]: value })} />
  )
  const day = (label: string, name: string) => (
    <TextField label={label} type="date" value={filters[name] ?? ""} onValue={(value) => setFilters({ [name]: value })} />
  )
  return (
    <Page title="Audit" actions={<Tools query={queryOf(filters)} />}>
      <FilterRow label="Audit">
        {search("Who, by e-mail or number", "actor")}
        {search("Action; links.* for all of an area", "action")}
        {search("Target, as type or type:id", "target")}
        <OrganizationField
          value={Number(filters.organization) || undefined}
          none="Any"
          onValue={(id) => setFilters({ organization: id === undefined ? "" : String(id) })}
        />
        <SiteField value={filters.site ?? ""} onValue={(site) => setFilters({ site })} />
        {search("Network of the address", "ip")}
        {day("From", "from")}
        {day("To", "to")}
        <SelectField
          label="Outcome"
          value={filters.outcome ?? ""}
          options={withAny(["ok", "failed"])}
          onValue={(outcome) => setFilters({ outcome })}
        />
      </FilterRow>
      <Rows
        of={useRows<AuditRow>("audit", filters)}
        caption="Audit"
        columns={columnsOf(setShown)}
        keyOf={({ id }) => id}
        empty="Nothing that was done fits these filters."
      />
      {shown && <AuditDetails row={shown} onClose={() => setShown(undefined)} />}
    </Page>
  )
}

/** The filtered log as a file, and a look at its chain. */
function Tools({ query }: { query: string }) {
  const [busy, setBusy] = useState(false)
  const verify = async () => {
    setBusy(true)
    try {
      const { ok, rows, first_broken_id } = await get<{ ok: boolean; rows: number; first_broken_id?: number }>(`${ADMIN}/audit/verify`)
      toast(ok ? `All ${rows} rows follow from one another` : `The chain is broken from row ${first_broken_id} on`)
    } catch (error) {
      toast(sentenceOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button busy={busy} onClick={() => void verify()}>
        Verify the chain
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

const columnsOf = (show: (row: AuditRow) => void): Column<AuditRow>[] => [
  { id: "at", label: "When", cell: ({ at }) => <time dateTime={at}>{timeText(at)}</time> },
  {
    id: "actor",
    label: "Who",
    cell: ({ actor_kind, actor_email, impersonator_email }) => (
      <>
        <span class="address">{visible(actor_email || actor_kind)}</span>
        {impersonator_email !== null && <span class="small quiet"> as, by {visible(impersonator_email)}</span>}
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
  { id: "outcome", label: "Outcome", cell: ({ outcome }) => (outcome === "ok" ? "ok" : <strong class="down">{outcome}</strong>) },
  {
    id: "changes",
    label: "Changes",
    cell: (row) => (
      <Button aria-label={`${fieldsText(Object.keys(row.changes).length)} of row ${row.id}`} onClick={() => show(row)}>
        {fieldsText(Object.keys(row.changes).length)}
      </Button>
    ),
  },
]

const fieldsText = (count: number): string => (count === 0 ? "Details" : count === 1 ? "1 field" : `${count} fields`)
