import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Problem } from "../api/api.ts"
import { visible } from "../text/safe-text.tsx"
import { Button } from "./button.tsx"
import { DataTable } from "./data-table.tsx"
import { Dialog } from "./dialog.tsx"
import { TextField } from "./form/fields.tsx"
import { Form } from "./form/form.tsx"

interface ConfirmProps {
  title: string
  /** What will happen, with numbers where possible. */
  children: ComponentChildren
  /** Label of the button, such as Delete 41,203 events. */
  act: string
  /** Name that the user must type if the action can't be undone. */
  name?: string
  onConfirm(): Promise<unknown>
  onClose(): void
}

/** Dialog that asks for confirmation before a destructive action. */
export function Confirm({ title, children, act, name, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState("")
  const isNamed = name === undefined || typed.trim() === name
  return (
    <Dialog title={title} onClose={onClose} small>
      <Form
        submit={async () => {
          await onConfirm()
          onClose()
        }}
      >
        {({ busy }) => (
          <>
            <div>{children}</div>
            {name !== undefined && <TextField label={`Type ${name} to confirm`} value={typed} onValue={setTyped} autocomplete="off" />}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="confirm" type="submit" busy={busy} disabled={!isNamed}>
                {act}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

type Named = readonly (readonly [name: string, text: string])[]

interface VersionConflictProps {
  mine: Named
  theirs: Named
  onMine(): Promise<unknown>
  onTheirs(): Promise<unknown>
  onClose(): void
}

/** Dialog for a version conflict: shows both versions side by side and lets the user choose. */
export function VersionConflict({ mine, theirs, onMine, onTheirs, onClose }: VersionConflictProps) {
  const rows = mine
    .map(([name, text]) => ({ name, mine: text, theirs: theirs.find((one) => one[0] === name)?.[1] ?? "" }))
    .filter((row) => row.mine !== row.theirs)
  return (
    <Dialog title="Someone else changed this while you were editing" onClose={onClose}>
      <p>Your changes are not saved yet. Choose which version to keep.</p>
      <DataTable
        caption="Both versions"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { id: "name", label: "Setting", cell: ({ name }) => name },
          { id: "mine", label: "Yours", cell: (row) => visible(row.mine) || "–" },
          { id: "theirs", label: "Theirs", cell: (row) => visible(row.theirs) || "–" },
        ]}
      />
      <Form submit={onMine} label="Both versions">
        {({ busy }) => (
          <div class="dialog-foot">
            <Button onClick={() => void onTheirs()}>Keep theirs</Button>
            <Button kind="primary" type="submit" busy={busy}>
              Save mine
            </Button>
          </div>
        )}
      </Form>
    </Dialog>
  )
}

/** Returns the server's current version from a version conflict (409 or 412); undefined for any other error. */
export function currentVersion<Shown>(error: unknown): Shown | undefined {
  const isStale = error instanceof Problem && (error.status === 409 || error.status === 412)
  return isStale ? (error.members.current as Shown | undefined) : undefined
}
