import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button } from "../button.tsx"
import { currentVersion, VersionConflict } from "../confirm.tsx"
import { toast } from "../toasts.tsx"
import { Form, type Sent } from "./form.tsx"
import { useUnsaved } from "./unsaved.tsx"

interface Edit<Values> extends Sent {
  values: Values
  set(changes: Partial<Values>): void
}

interface SectionFormProps<Shown extends { version: number }, Values> {
  title: string
  /** The current version on the server. */
  shown: Shown
  /** Returns the values that this section edits. */
  pick(shown: Shown): Values
  /** Sends the values with the version that was read. */
  save(values: Values, version: number): Promise<unknown>
  /** Refetches the server's version after saving. */
  refresh(): Promise<unknown>
  /** Returns the values as texts with their names, for the comparison in a version conflict. */
  words(values: Values): readonly (readonly [name: string, text: string])[]
  /** Returns the label of the button while there are changes. */
  act?(values: Values): string
  children(edit: Edit<Values>): ComponentChildren
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A settings section that is saved on its own. It warns about unsaved changes and never overwrites another user's change unnoticed. */
export function SectionForm<Shown extends { version: number }, Values extends object>(props: SectionFormProps<Shown, Values>) {
  const { title, shown, pick, save, refresh, words, act, children } = props
  const stored = pick(shown)
  const [draft, setDraft] = useState<{ values: Values; from: Values }>()
  const [theirs, setTheirs] = useState<Shown>()
  const values = draft?.values ?? stored
  const isDirty = draft !== undefined && !isSame(draft.values, stored)
  useUnsaved(isDirty)

  const done = async () => {
    await refresh()
    setDraft(undefined)
    setTheirs(undefined)
    toast(`${title}: saved`)
  }
  const submit = async () => {
    try {
      await save(values, shown.version)
    } catch (error) {
      const current = currentVersion<Shown>(error)
      if (!current) throw error
      // A change in another section is no conflict.
      if (!isSame(pick(current), draft?.from ?? stored)) return setTheirs(current)
      await save(values, current.version)
    }
    await done()
  }
  return (
    <section class="card stack" aria-label={title}>
      <h2>{title}</h2>
      <Form submit={submit} label={title}>
        {(sent) => (
          <>
            {children({
              ...sent,
              values,
              set: (changes) => setDraft({ from: draft?.from ?? stored, values: { ...values, ...changes } }),
            })}
            <div class="row">
              <Button type="submit" kind={isDirty ? "primary" : "plain"} busy={sent.busy} disabled={!isDirty}>
                {(isDirty && act?.(values)) || "Save changes"}
              </Button>
              {isDirty && <Button onClick={() => setDraft(undefined)}>Discard changes</Button>}
            </div>
          </>
        )}
      </Form>
      {theirs && (
        <VersionConflict
          mine={words(values)}
          theirs={words(pick(theirs))}
          onMine={async () => {
            await save(values, theirs.version)
            await done()
          }}
          onTheirs={async () => {
            await refresh()
            setDraft(undefined)
            setTheirs(undefined)
          }}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </section>
  )
}
