import { useState } from "preact/hooks"
import { Button, type Column, DataTable, Form, post, TextField, useMe, visible } from "#plugin/ui"
import { ADMIN } from "./list.ts"
import { Part } from "./parts.tsx"

interface Dialogue {
  ok: boolean
  steps: { name: string; sent: string; received: string; ms: number }[]
}

/** Sends a letter and tells what was said. */
export function MailTest() {
  const me = useMe()
  const [to, setTo] = useState(me?.user.email ?? "")
  const [told, setTold] = useState<Dialogue>()
  return (
    <Part title="Test the mail server">
      <Form submit={async () => setTold(await post<Dialogue>(`${ADMIN}/settings/smtp/test`, { to: to.trim() }))}>
        {({ busy, errorOf }) => (
          <>
            <TextField label="To" type="email" value={to} onValue={setTo} error={errorOf("/to")} />
            <div class="row">
              <Button type="submit" busy={busy}>
                Send a test mail
              </Button>
            </div>
          </>
        )}
      </Form>
      {told && (
        <div class="stack" role="status">
          <p>{told.ok ? "The server has taken the mail." : "The mail could not be sent; the last step says why."}</p>
          <DataTable
            caption="Steps"
            columns={STEPS}
            rows={told.steps.map((step, index) => ({ ...step, index }))}
            keyOf={({ index }) => index}
          />
        </div>
      )}
    </Part>
  )
}

const STEPS: Column<Dialogue["steps"][number] & { index: number }>[] = [
  { id: "name", label: "Step", cell: ({ name }) => visible(name) },
  { id: "sent", label: "Sent", cell: ({ sent }) => <code>{visible(sent)}</code> },
  { id: "received", label: "Received", cell: ({ received }) => <code>{visible(received)}</code> },
  { id: "ms", label: "ms", number: true, cell: ({ ms }) => ms },
]
