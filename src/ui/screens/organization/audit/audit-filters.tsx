import { useState } from "preact/hooks"
import { Button } from "../../../parts/button.tsx"
import { SelectField, TextField } from "../../../parts/form/fields.tsx"
import { visible } from "../../../text/safe-text.tsx"
import type { OwnSite } from "../own-organization.ts"

/** Filters as the API expects them. An empty value matches everything. */
export interface AuditFilters {
  actor: string
  action: string
  site: string
  from: string
  to: string
  outcome: string
}
export const NO_FILTERS: AuditFilters = { actor: "", action: "", site: "", from: "", to: "", outcome: "" }

/** Returns the filters as query parameters, each followed by `&`. Empty without filters. */
export const asQuery = (filters: AuditFilters): string =>
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
