import { visible } from "../../text/safe-text.ts"
import { Button } from "../button.tsx"
import { DataTable } from "../data-table.tsx"
import { Dialog } from "../dialog.tsx"
import { Form } from "./form.tsx"

type Named = readonly (readonly [name: string, text: string])[]

interface TwoVersionsProps {
  mine: Named
  theirs: Named
  onMine(): Promise<unknown>
  onTheirs(): Promise<unknown>
  onClose(): void
}

/** Dialog for a version conflict: shows both versions side by side and lets the user choose. */
export function TwoVersions({ mine, theirs, onMine, onTheirs, onClose }: TwoVersionsProps) {
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
