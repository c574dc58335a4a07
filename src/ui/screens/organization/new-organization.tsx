import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { post } from "../../api.ts"
import { useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"

/** Whoever makes it is its first owner. */
export default function NewOrganization({ onClose }: { onClose(): void }) {
  const [name, setName] = useState("")
  const refresh = useRefreshMe()
  const [, navigate] = useLocation()
  return (
    <Dialog title="New organization" onClose={onClose} small>
      <Form
        submit={async () => {
          const { id } = await post<{ id: number }>("/api/private/organizations", { name })
          await refresh()
          onClose()
          navigate(`/org/${id}/members`)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Name"
              value={name}
              onValue={setName}
              error={errorOf("/name")}
              note="You are its owner. Sites, members and keys of organizations are kept apart."
              autofocus
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Make it
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
