import { FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import { Choice, TextArea, TextField } from "../../parts/fields.tsx"
import type { Sent } from "../../parts/form.tsx"
import { ConditionRows } from "./condition-rows.tsx"
import { linesOf } from "./settings.ts"
import { SECTION_WORDS } from "./share.ts"
import type { ShareDraft } from "./share-draft.ts"

const MOST_FILTERS = 10

interface DraftProps {
  draft: ShareDraft
  set(changes: Partial<ShareDraft>): void
  errorOf: Sent["errorOf"]
}

interface PasswordProps extends DraftProps {
  /** The organization wants one on every view. */
  needsPassword: boolean
  /** It has one already. */
  hasPassword: boolean
}

/** The fields of a shared view: who gets in, what they see, and what they may do. */
export function ShareFields({ needsPassword, hasPassword, ...fields }: PasswordProps) {
  const { draft, set, errorOf } = fields
  return (
    <>
      <TextField
        label="Name"
        note="Strangers see it."
        value={draft.name}
        onValue={(name) => set({ name })}
        error={errorOf("/name")}
        autofocus
        required
      />
      <PasswordFields {...fields} needsPassword={needsPassword} hasPassword={hasPassword} />
      <TextField
        label="Ends at"
        type="datetime-local"
        note="In the time of this browser; empty for never."
        value={draft.expires}
        onValue={(expires) => set({ expires })}
        error={errorOf("/expires_at")}
      />
      <ConditionRows
        label="Locked filters"
        note="Hold in every number of the view. Nobody can lift them there."
        dimensions={FLAT_DIMENSIONS}
        most={MOST_FILTERS}
        drafts={draft.filters}
        onDrafts={(filters) => set({ filters })}
        error={errorOf("/locked_filters") ?? errorOf("/locked_filters/0/values")}
      />
      <SectionChoices {...fields} />
      <fieldset class="switches">
        <legend>What may be done</legend>
        <Choice label="Choose the period" checked={draft.range} onChange={(range) => set({ range })} />
        <Choice label="Filter" checked={draft.mayFilter} onChange={(mayFilter) => set({ mayFilter })} />
        <Choice label="Take CSV files" checked={draft.mayExport} onChange={(mayExport) => set({ mayExport })} />
      </fieldset>
      <TextArea
        label="Pages that may embed it"
        note="Origins, one to a line, such as https://www.example.com. A view with a password cannot be embedded."
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
        label="It has a password"
        note={needsPassword ? "Your organization asks for one." : undefined}
        checked={draft.hasPassword}
        onChange={(wanted) => set({ hasPassword: wanted })}
      />
      {draft.hasPassword && (
        <TextField
          label="Password"
          type="password"
          note={hasPassword ? "Left empty it stays what it is." : "At least 8 characters."}
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
      <legend>What is shown</legend>
      {errorOf("/sections") && <span class="field-error">{errorOf("/sections")}</span>}
      {Object.entries(SECTION_WORDS).map(([section, label]) => (
        <Choice key={section} label={label} checked={draft.sections.includes(section)} onChange={(checked) => toggle(section, checked)} />
      ))}
    </fieldset>
  )
}
