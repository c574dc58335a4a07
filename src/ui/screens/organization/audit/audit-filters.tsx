import { useState } from "preact/hooks"
import { Button } from "../../parts/button.tsx"
import { SelectField, TextField } from "../../parts/fields.tsx"
import { visible } from "../../safe-text.ts"
import type { OwnSite } from "./own-organization.ts"

/** As the list takes them; empty: any. */
export interface AuditFilters {
  actor: string
  action: string
  site: string
  from: string
  to: string
  outcome: string
}
export const NO_FILTERS: AuditFilters = { actor: "", action: "", site: "", from: "", to: "", outcome: "" }

/** A query that has begun, for more parameters behind it; empty without filters. */
export const asQuery = (filters: AuditFilters): string =>
  Object.entries(filters)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}&`)
    .join("")

/** Groups of actions: a star is any end. */
const ACTIONS = [
  { value: "", label: "Everything" },
  { value: "accounts.member.*", label: "Members" },
  { value: "accounts.invitation.*", label: "Invitations" },
  { value: "accounts.api_key.*", label: "API keys" },
  { value: "accounts.organization.*", label: "Settings of the organization" },
  { value: "accounts.provider.*", label: "Identity providers" },
  { value: "accounts.mail_domain.*", label: "Mail domains" },
  { value: "sites.*", label: "Sites" },
]

interface AuditFiltersFormProps {
  sites: readonly OwnSite[]
  shown: AuditFilters
  onFilters(filters: AuditFilters): void
}

/** Applied together: the log is searched part by part, and not while one types. */
export function AuditFiltersForm({ sites, shown, onFilters }: AuditFiltersFormProps) {
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
      <TextField label="Who (e-mail)" value={draft.actor} onValue={set("actor")} type="search" />
      <SelectField label="What" value={draft.action} onValue={set("action")} options={ACTIONS} />
      <SelectField
        label="Site"
        value={draft.site}
        onValue={set("site")}
        options={[{ value: "", label: "All" }, ...sites.map(({ id, name }) => ({ value: String(id), label: visible(name) }))]}
      />
      <TextField label="From" type="date" value={draft.from} onValue={set("from")} />
      <TextField label="To" type="date" value={draft.to} onValue={set("to")} />
      <SelectField
        label="Outcome"
        value={draft.outcome}
        onValue={set("outcome")}
        options={[
          { value: "", label: "Any" },
          { value: "ok", label: "Done" },
          { value: "failed", label: "Failed" },
        ]}
      />
      <div class="row">
        <Button type="submit">Filter</Button>
        <Button
          kind="quiet"
          onClick={() => {
            setDraft(NO_FILTERS)
            onFilters(NO_FILTERS)
          }}
        >
          Clear
        </Button>
      </div>
    </form>
  )
}
