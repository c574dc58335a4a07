import { Button, Dialog, Form, post, toast, visible } from "#plugin/ui"
import type { BoardResponse } from "../../responses.ts"
import { boardsPath, useRefresh } from "../answers.ts"
import { titleOf } from "../labels.ts"
import { LIMITS } from "../limits.ts"
import { LayoutSketch } from "../sketch/layout-sketch.tsx"
import { bodyOf, type Draft } from "./draft.ts"

interface ConflictDialogProps {
  siteId: number
  mine: Draft
  theirs: BoardResponse
  onCopied(copy: BoardResponse): void
  onOverwrite(): Promise<void>
  onTheirs(): Promise<void>
  onClose(): void
}

/** Dialog for two people who edited the same dashboard: both versions side by side. Nothing is lost, whichever is chosen. */
export default function ConflictDialog({ siteId, mine, theirs, onCopied, onOverwrite, onTheirs, onClose }: ConflictDialogProps) {
  const refresh = useRefresh(siteId)
  /** Keeps the user's version as a private dashboard, which also widgets of plugins that are off become part of. */
  const copy = async (): Promise<BoardResponse> => {
    const name = `${mine.name.slice(0, LIMITS.nameChars - 10)} (my copy)`
    const made = await post<BoardResponse>(boardsPath(siteId), { ...bodyOf(mine, { isNew: true }), name, visibility: "private" })
    await refresh()
    toast(`Your version is kept as ${visible(name)}`)
    return made
  }
  return (
    <Dialog title="Someone else changed this while you were editing" onClose={onClose} wide>
      <p>Your changes are not saved yet. Choose what happens to them.</p>
      <div class="pair versions">
        <Version title="Yours" name={mine.name} widgets={mine.widgets} others={theirs.widgets} />
        <Version title="Theirs" name={theirs.name} widgets={theirs.widgets} others={mine.widgets} />
      </div>
      <Form submit={async () => onCopied(await copy())} label="Both versions">
        {({ busy }) => (
          <div class="dialog-foot">
            <Button onClick={() => void onTheirs()}>Discard mine</Button>
            <Button onClick={() => void onOverwrite()}>Replace theirs with mine</Button>
            <Button kind="primary" type="submit" busy={busy}>
              Keep mine as a copy
            </Button>
          </div>
        )}
      </Form>
    </Dialog>
  )
}

type Widgets = readonly Pick<Draft["widgets"][number], "type" | "title" | "config" | "x" | "y" | "w" | "h">[]

const keyOf = ({ type, title, config, x, y, w, h }: Widgets[number]): string => JSON.stringify([type, title, config, x, y, w, h])

/** One version: a sketch, and its widgets, of which those that differ from the other version stand out. */
function Version({ title, name, widgets, others }: { title: string; name: string; widgets: Widgets; others: Widgets }) {
  const known = new Set(others.map(keyOf))
  return (
    <section aria-label={title}>
      <h3>
        {title}: {visible(name)}
      </h3>
      <LayoutSketch widgets={widgets} />
      <ul class="plain-list small">
        {widgets.map((widget, index) => (
          <li key={index}>
            {known.has(keyOf(widget)) ? (
              <span class="quiet">{visible(titleOf(widget))}</span>
            ) : (
              <strong>{visible(titleOf(widget))} · differs</strong>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
