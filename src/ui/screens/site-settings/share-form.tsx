import { useState } from "preact/hooks"
import { FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { ShareResponse } from "../../../domain/share.ts"
import { patch, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { currentVersion, VersionConflict } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Checkbox, TextArea, TextField } from "../../parts/form/fields.tsx"
import { Form, type Sent } from "../../parts/form/form.tsx"
import { ConditionRows } from "./condition-rows.tsx"
import { linesOf } from "./settings.ts"
import { bodyOf, SECTION_LABELS, type ShareDraft, textOf, useShareDraft } from "./share-draft.ts"

interface ShareFormProps {
  /** API path of the site's shared views. */
  path: string
  /** View to edit, or undefined for a new one. */
  share: ShareResponse | undefined
  /** Whether the organization requires a password on every view. */
  needsPassword: boolean
  onDone(): Promise<unknown>
  onClose(): void
}

/** Creates or edits a shared view. */
export function ShareForm({ path, share, needsPassword, onDone, onClose }: ShareFormProps) {
  const { draft, set } = useShareDraft(share)
  const body = () => bodyOf(draft, share)
  const [theirs, setTheirs] = useState<ShareResponse>()
  const done = async () => {
    await onDone()
    onClose()
  }
  const change = async (version: number) => {
    await patch(`${path}/${share!.id}`, { ...body(), version }) // `change` is called for an existing view only
    await done()
  }
  const submit = async () => {
    try {
      if (share) return await change(share.version)
      await post(path, body())
      await done()
    } catch (error) {
      const current = currentVersion<ShareResponse>(error)
      if (!current) throw error
      setTheirs(current)
    }
  }
  return (
    <Dialog title={share ? "Edit shared view" : "New shared view"} onClose={onClose}>
      <Form submit={submit}>
        {({ busy, errorOf }) => (
          <>
            <ShareFields
              draft={draft}
              set={set}
              errorOf={errorOf}
              needsPassword={needsPassword}
              hasPassword={share?.has_password ?? false}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {share ? "Save changes" : "Create shared view"}
              </Button>
            </div>
          </>
        )}
      </Form>
      {theirs && (
        <VersionConflict
          mine={textOf({ ...body(), has_password: draft.hasPassword })}
          theirs={textOf(theirs)}
          onMine={() => change(theirs.version)}
          onTheirs={done}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </Dialog>
  )
}

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
function ShareFields({ needsPassword, hasPassword, ...fields }: PasswordProps) {
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
        <Checkbox label="Change the period" checked={draft.range} onChange={(range) => set({ range })} />
        <Checkbox label="Filter the view" checked={draft.mayFilter} onChange={(mayFilter) => set({ mayFilter })} />
        <Checkbox label="Export CSV files" checked={draft.mayExport} onChange={(mayExport) => set({ mayExport })} />
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
      <Checkbox
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
    set({ sections: Object.keys(SECTION_LABELS).filter((one) => (one === section ? checked : draft.sections.includes(one))) })
  return (
    <fieldset class="switches">
      <legend>Sections</legend>
      {errorOf("/sections") && <span class="field-error">{errorOf("/sections")}</span>}
      {Object.entries(SECTION_LABELS).map(([section, label]) => (
        <Checkbox key={section} label={label} checked={draft.sections.includes(section)} onChange={(checked) => toggle(section, checked)} />
      ))}
    </fieldset>
  )
}
