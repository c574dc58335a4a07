import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import type { OrganizationResponse } from "../../../domain/organization.ts"
import { post } from "../../api/api.ts"
import { useRefreshMe } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"

/** Creates an organization. The user becomes its first owner. */
export default function NewOrganization({ onClose }: { onClose(): void }) {
  const [name, setName] = useState("")
  const refresh = useRefreshMe()
  const [, navigate] = useLocation()
  return (
    <Dialog title="New organization" onClose={onClose} small>
      <Form
        submit={async () => {
          const { id } = await post<OrganizationResponse>("/api/private/organizations", { name })
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
              note="You'll be its owner. Sites, members and API keys belong to one organization only."
              autofocus
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Create organization
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
