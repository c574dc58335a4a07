import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { patch, post } from "../api/api.ts"
import { areaQueries } from "../api/plugin-requests.ts"
import { Button } from "../parts/button.tsx"
import { currentVersion, VersionConflict } from "../parts/confirm.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { Form, type Sent } from "../parts/form/form.tsx"
import { toast } from "../parts/toasts.tsx"
import { visible } from "../text/safe-text.tsx"
import { type AreaItem, type AreaItems, type EditorProps, itemsPath } from "./items.tsx"

/** Properties of a group of fields in an editor. */
export interface EditorFields<Draft> {
  draft: Draft
  set(changes: Partial<Draft>): void
  errorOf: Sent["errorOf"]
}

interface EditorFrameProps<Item extends AreaItem, Draft> extends EditorProps<Item> {
  of: AreaItems<Item>
  /** Returns the item as form values; without an item, the values of a new one. */
  draftOf(item: Item | undefined): Draft
  /** Returns the body of the request. Fields whose default the server chooses are left out. */
  bodyOf(draft: Draft): Readonly<Record<string, unknown>>
  /** Returns the names and the values of the fields as text, to compare two versions of an item. */
  describe(draft: Draft): readonly (readonly [name: string, text: string])[]
  wide?: boolean
  children(fields: EditorFields<Draft> & Pick<Sent, "problem">): ComponentChildren
}

/** Dialog that creates or edits an item. If someone else changed the item in the meantime, it shows both versions. */
export function EditorFrame<Item extends AreaItem, Draft>({ of, siteId, item, onSaved, onClose, ...props }: EditorFrameProps<Item, Draft>) {
  const { draftOf, bodyOf, describe, wide = false, children } = props
  const refresh = areaQueries(of.path).useRefresh(siteId)
  const [initial] = useState(() => draftOf(item))
  const [draft, setDraft] = useState(initial)
  const [theirs, setTheirs] = useState<Item>()
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const save = async (version: number | undefined) => {
    const saved = item
      ? await patch<Item>(`${itemsPath(siteId, of)}/${item.id}`, { ...changedFields(bodyOf(initial), bodyOf(draft)), version })
      : await post<Item>(itemsPath(siteId, of), bodyOf(draft))
    await refresh()
    toast(`${visible(of.nameOf(saved))} ${item ? "saved" : "created"}`)
    onSaved?.(saved)
    onClose()
  }
  const submit = async () => {
    try {
      await save(item?.version)
    } catch (error) {
      const current = currentVersion<Item>(error)
      if (!current?.version) throw error
      setTheirs(current)
    }
  }
  if (theirs)
    return (
      <VersionConflict
        mine={describe(draft)}
        theirs={describe(draftOf(theirs))}
        onMine={() => save(theirs.version)}
        onTheirs={async () => {
          await refresh()
          onClose()
        }}
        onClose={() => setTheirs(undefined)}
      />
    )
  return (
    <Dialog title={item ? `Edit ${visible(of.nameOf(item))}` : `New ${of.noun}`} onClose={onClose} wide={wide}>
      <Form submit={submit} label={`${item ? "Edit" : "New"} ${of.noun}`}>
        {({ busy, errorOf, problem }) => (
          <>
            {children({ draft, set, errorOf, problem })}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {item ? "Save changes" : `Create ${of.noun}`}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Returns the fields of `after` that differ, so that another user's change to a different field is kept. */
export function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
}
