import { FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import { Choice, TextArea, TextField } from "../../parts/form/fields.tsx"
import type { Sent } from "../../parts/form/form.tsx"
import { ConditionRows } from "./condition-rows.tsx"
import { linesOf } from "./settings.ts"
import { SECTION_WORDS } from "./share.ts"
import type { ShareDraft } from "./share-draft.ts"

const MAX_FILTERS = 10

interface DraftProps {
  draft: ShareDraft
  set(changes: Partial<ShareDraft>): void
  errorOf: Sent["errorOf"]
}

interface PasswordProps extends DraftProps {
  /** Whether the organization requires a password on every view. */
  needsPassword: boolean
  /** Whether the view already has a password. */
  hasPassword: boolean
}

/** Renders the fields of a shared view: access, content and what viewers can do. */
export function ShareFields({ needsPassword, hasPassword, ...fields }: PasswordProps) {
  const { draft, set, errorOf } = fields
  return (
    <>
      <TextField
        label="Name"
        note="Visible to anyone with the link."
        value={draft.name}
        onValue={(name) => set({ name })}
        error={errorOf("/name")}
        autofocus
        required
      />
      <PasswordFields {...fields} needsPassword={needsPassword} hasPassword={hasPassword} />
      <TextField
        label="Expires"
        type="datetime-local"
        note="In your browser's time zone. Leave empty to never expire."
        value={draft.expires}
        onValue={(expires) => set({ expires })}
        error={errorOf("/expires_at")}
      />
      <ConditionRows
        label="Locked filters"
        note="Always applied. Viewers cannot remove them."
        dimensions={FLAT_DIMENSIONS}
        maximum={MAX_FILTERS}
        drafts={draft.filters}
        onDrafts={(filters) => set({ filters })}
        error={errorOf("/locked_filters") ?? errorOf("/locked_filters/0/values")}
      />
      <SectionChoices {...fields} />
      <fieldset class="switches">
        <legend>Viewers can</legend>
        <Choice label="Change the period" checked={draft.range} onChange={(range) => set({ range })} />
        <Choice label="Filter the view" checked={draft.mayFilter} onChange={(mayFilter) => set({ mayFilter })} />
        <Choice label="Export CSV files" checked={draft.mayExport} onChange={(mayExport) => set({ mayExport })} />
      </fieldset>
      <TextArea
        label="Pages that can embed this view"
        note="One origin per line, e.g. https://www.example.com. Views with a password can't be embedded."
        value={draft.origins}
        onValue={(origins) => set({ origins })}
        error={linesOf(draft.origins).flatMap((_, index) => errorOf(`/embed_origins/${index}`) ?? [])[0]}
        rows={2}
      />
    </>
  )
}

function PasswordFields({ draft, set, errorOf, needsPassword, hasPassword }: PasswordProps) {
  return (
    <>
      <Choice
        label="Require a password"
        note={needsPassword ? "Your organization requires a password." : undefined}
        checked={draft.hasPassword}
        onChange={(wanted) => set({ hasPassword: wanted })}
      />
      {draft.hasPassword && (
        <TextField
          label="Password"
          type="password"
          note={hasPassword ? "Leave empty to keep the current password." : "At least 8 characters."}
          value={draft.password}
          onValue={(password) => set({ password })}
          error={errorOf("/password")}
          autocomplete="new-password"
        />
      )}
    </>
  )
}

function SectionChoices({ draft, set, errorOf }: DraftProps) {
  const toggle = (section: string, checked: boolean) =>
    set({ sections: Object.keys(SECTION_WORDS).filter((one) => (one === section ? checked : draft.sections.includes(one))) })
  return (
    <fieldset class="switches">
      <legend>Sections</legend>
      {errorOf("/sections") && <span class="field-error">{errorOf("/sections")}</span>}
      {Object.entries(SECTION_WORDS).map(([section, label]) => (
        <Choice key={section} label={label} checked={draft.sections.includes(section)} onChange={(checked) => toggle(section, checked)} />
      ))}
    </fieldset>
  )
}
