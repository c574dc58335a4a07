import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button } from "../../parts/button.tsx"
import { Form, type Sent } from "../../parts/form.tsx"
import { TwoVersions } from "../../parts/two-versions.tsx"
import { useUnsaved } from "../../parts/unsaved.tsx"
import { currentOf } from "../../stale.ts"
import { toast } from "../../toasts.ts"

interface Edit<Values> extends Sent {
  values: Values
  set(changes: Partial<Values>): void
}

interface SectionFormProps<Shown extends { version: number }, Values> {
  title: string
  /** What it is as the server has it now. */
  shown: Shown
  /** What of it this section changes. */
  pick(shown: Shown): Values
  /** Sends it, under the version that was read. */
  save(values: Values, version: number): Promise<unknown>
  /** Reads again what the server has, after it was saved. */
  refresh(): Promise<unknown>
  /** The values in words, each by its name, for the case that somebody else has changed them too. */
  words(values: Values): readonly (readonly [name: string, text: string])[]
  /** What the button says while something is changed. */
  act?(values: Values): string
  children(edit: Edit<Values>): ComponentChildren
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** One section of the settings: saved by itself, guarded while it is not, and never over somebody else's change unseen. */
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
      const current = currentOf<Shown>(error)
      if (!current) throw error
      // Another section's change is no reason to ask.
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
                {(isDirty && act?.(values)) || "Save"}
              </Button>
              {isDirty && <Button onClick={() => setDraft(undefined)}>Undo changes</Button>}
            </div>
          </>
        )}
      </Form>
      {theirs && (
        <TwoVersions
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
