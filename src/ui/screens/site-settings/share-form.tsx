import { useState } from "preact/hooks"
import { patch, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { currentOf, TwoVersions } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Form } from "../../parts/form/form.tsx"
import { type ShareShown, wordsOf } from "./share.ts"
import { bodyOf, useShareDraft } from "./share-draft.ts"
import { ShareFields } from "./share-fields.tsx"

interface ShareFormProps {
  /** API path of the site's shared views. */
  path: string
  /** View to edit, or undefined for a new one. */
  share: ShareShown | undefined
  /** Whether the organization requires a password on every view. */
  needsPassword: boolean
  onDone(): Promise<unknown>
  onClose(): void
}

/** Creates or edits a shared view. */
export function ShareForm({ path, share, needsPassword, onDone, onClose }: ShareFormProps) {
  const { draft, set } = useShareDraft(share)
  const body = () => bodyOf(draft, share)
  const [theirs, setTheirs] = useState<ShareShown>()
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
      const current = currentOf<ShareShown>(error)
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
        <TwoVersions
          mine={wordsOf({ ...body(), has_password: draft.hasPassword })}
          theirs={wordsOf(theirs)}
          onMine={() => change(theirs.version)}
          onTheirs={done}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </Dialog>
  )
}
