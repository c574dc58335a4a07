import { useState } from "preact/hooks"
import { post } from "../../api.ts"
import { useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { type Member, type OwnOrganization, organizationPath, useRefresh } from "./own-organization.ts"

interface TransferOwnershipProps {
  organization: OwnOrganization
  all: readonly Member[]
  /** Id of the owner who gives it away. */
  own: number
  onClose(): void
}

/** Somebody else becomes owner, and the giver admin. */
export function TransferOwnership({ organization, all, own, onClose }: TransferOwnershipProps) {
  const refresh = useRefresh(organization.id)
  const refreshMe = useRefreshMe()
  const heirs = all.filter(({ user, role }) => user.id !== own && role !== "guest")
  const [heir, setHeir] = useState("")
  const chosen = heirs.find(({ user }) => String(user.id) === heir) ?? heirs[0]
  if (!chosen)
    return (
      <Dialog title="Hand over ownership" onClose={onClose} small>
        <p>There is nobody to hand it to. Invite somebody first; guests cannot be owners.</p>
        <div class="dialog-foot">
          <Button onClick={onClose}>Close</Button>
        </div>
      </Dialog>
    )
  return (
    <Confirm
      title="Hand over ownership"
      act={`Make ${visible(chosen.user.name)} the owner`}
      name={organization.name}
      onClose={onClose}
      onConfirm={async () => {
        await post(`${organizationPath(organization.id)}/transfer-ownership`, { user_id: chosen.user.id })
        await Promise.all([refresh("members"), refreshMe()])
        toast(`${visible(chosen.user.name)} is owner now, and you are admin`)
      }}
    >
      <div class="stack">
        <p>You become admin. Only the new owner can make you an owner again.</p>
        <SelectField
          label="New owner"
          value={String(chosen.user.id)}
          onValue={setHeir}
          options={heirs.map(({ user }) => ({ value: String(user.id), label: `${visible(user.name)}, ${visible(user.email)}` }))}
        />
      </div>
    </Confirm>
  )
}
