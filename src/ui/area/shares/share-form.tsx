import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { SharedTerms } from "../../../domain/share.ts"
import { patch, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { currentVersion, VersionConflict } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Checkbox, linesOf, TextArea, TextField } from "../../parts/form/fields.tsx"
import { Form, type Sent } from "../../parts/form/form.tsx"
import { ConditionRows } from "../condition-rows.tsx"
import { bodyOf, type ShareDraft, shareDraft, textOf } from "./share-draft.ts"

/** The fields that only one kind of share has. */
export interface OwnFields<Own extends object> {
  /** Returns them of a share, or those of a new one. */
  of(share: object | undefined): Own
  /** Returns them in words, to compare two versions. */
  textOf(own: Own): readonly (readonly [label: string, text: string])[]
  /** Returns what is sent of them. Default: all. */
  sent?(own: Own, before: Own): object
  /** Their fields in the form. */
  fields(own: Own, set: (changes: Partial<Own>) => void, errorOf: Sent["errorOf"]): ComponentChildren
}

interface ShareFormProps<Own extends object> {
  /** What the share is called, such as `shared view`. */
  noun: string
  /** API path of the shares. */
  path: string
  /** Share to edit, or undefined for a new one. */
  share: SharedTerms | undefined
  own: OwnFields<Own>
  /** Whether the organization requires a password on every share. */
  needsPassword: boolean
  onDone(): Promise<unknown>
  onClose(): void
}

/** Dialog that creates or edits a share of any kind. */
export function ShareForm<Own extends object>({ noun, path, share, own, needsPassword, onDone, onClose }: ShareFormProps<Own>) {
  const [draft, setDraft] = useState(() => shareDraft(share, needsPassword))
  const [values, setValues] = useState(() => own.of(share))
  const body = () => ({ ...bodyOf(draft, share), ...(own.sent?.(values, own.of(share)) ?? values) })
  const [theirs, setTheirs] = useState<SharedTerms>()
  const set = (changes: Partial<ShareDraft>) => setDraft((now) => ({ ...now, ...changes }))
  const done = async () => {
    await onDone()
    onClose()
  }
  const change = async (version: number) => {
    await patch(`${path}/${share!.id}`, { ...body(), version }) // `change` is called for an existing share only
    await done()
  }
  const submit = async () => {
    try {
      if (share) return await change(share.version)
      await post(path, body())
      await done()
    } catch (error) {
      const current = currentVersion<SharedTerms>(error)
      if (!current) throw error
      setTheirs(current)
    }
  }
  return (
    <Dialog title={share ? `Edit ${noun}` : `New ${noun}`} onClose={onClose}>
      <Form submit={submit}>
        {({ busy, errorOf }) => (
          <>
            <ShareFields draft={draft} set={set} errorOf={errorOf} needsPassword={needsPassword} hasPassword={share?.has_password ?? false}>
              {own.fields(values, (changes) => setValues((now) => ({ ...now, ...changes })), errorOf)}
            </ShareFields>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {share ? "Save changes" : `Create ${noun}`}
              </Button>
            </div>
          </>
        )}
      </Form>
      {theirs && (
        <VersionConflict
          mine={[...textOf({ ...body(), has_password: draft.hasPassword }), ...own.textOf(values)]}
          theirs={[...textOf(theirs), ...own.textOf(own.of(theirs))]}
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
  /** Whether the organization requires a password on every share. */
  needsPassword: boolean
  /** Whether the share already has a password. */
  hasPassword: boolean
}

/** Renders the fields of a share: access, content and what viewers can do. */
function ShareFields({ children, ...fields }: DraftProps & { children: ComponentChildren }) {
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
      <PasswordFields {...fields} />
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
      {children}
      <fieldset class="switches">
        <legend>Viewers can</legend>
        <Checkbox label="Change the period" checked={draft.range} onChange={(range) => set({ range })} />
        <Checkbox label="Filter the view" checked={draft.mayFilter} onChange={(mayFilter) => set({ mayFilter })} />
        <Checkbox label="Export CSV files" checked={draft.mayExport} onChange={(mayExport) => set({ mayExport })} />
      </fieldset>
      <TextArea
        label="Pages that can embed this view"
        note="One origin per line, e.g. https://example.com. Views with a password can't be embedded."
        value={draft.origins}
        onValue={(origins) => set({ origins })}
        error={errorOf("/embed_origins") ?? linesOf(draft.origins).flatMap((_, index) => errorOf(`/embed_origins/${index}`) ?? [])[0]}
        rows={2}
      />
    </>
  )
}

function PasswordFields({ draft, set, errorOf, needsPassword, hasPassword }: DraftProps) {
  return (
    <>
      <Checkbox
        label="Require a password"
        note={(!draft.hasPassword && errorOf("/password")) || (needsPassword ? "Your organization requires a password." : undefined)}
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
