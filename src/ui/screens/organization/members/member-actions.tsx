import { useState } from "preact/hooks"
import type { MemberResponse } from "../../../../domain/membership.ts"
import { post, remove } from "../../../api/api.ts"
import { useRefreshMe } from "../../../api/session.ts"
import { Button } from "../../../parts/button.tsx"
import { Confirm } from "../../../parts/confirm.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { type OwnOrganization, organizationPath, useRefresh } from "../own-organization.ts"

interface RemoveMemberProps {
  organizationId: number
  member: MemberResponse
  onClose(): void
}

export function RemoveMember({ organizationId, member, onClose }: RemoveMemberProps) {
  const refresh = useRefresh(organizationId)
  return (
    <Confirm
      title={`Remove ${visible(member.user.name)}?`}
      act="Remove member"
      onClose={onClose}
      onConfirm={async () => {
        await remove(`${organizationPath(organizationId)}/members/${member.user.id}`)
        await refresh("members", "invitations", "api-keys")
        toast(`${visible(member.user.name)} removed`)
      }}
    >
      <p>
        They lose access immediately. Their site-specific roles, personal API keys and pending invitations are revoked. Other keys they
        created keep working.
      </p>
    </Confirm>
  )
}

interface TransferOwnershipProps {
  organization: OwnOrganization
  all: readonly MemberResponse[]
  /** User ID of the current owner. */
  own: number
  onClose(): void
}

/** Transfers ownership to another member. The previous owner becomes an admin. */
export function TransferOwnership({ organization, all, own, onClose }: TransferOwnershipProps) {
  const refresh = useRefresh(organization.id)
  const refreshMe = useRefreshMe()
  const candidates = all.filter(({ user, role }) => user.id !== own && role !== "guest")
  const [newOwner, setNewOwner] = useState("")
  const chosen = candidates.find(({ user }) => String(user.id) === newOwner) ?? candidates[0]
  if (!chosen)
    return (
      <Dialog title="Transfer ownership" onClose={onClose} small>
        <p>There is no one to transfer ownership to. Invite a member first. Guests can't be owners.</p>
        <div class="dialog-foot">
          <Button onClick={onClose}>Close</Button>
        </div>
      </Dialog>
    )
  return (
    <Confirm
      title="Transfer ownership?"
      act={`Make ${visible(chosen.user.name)} the owner`}
      name={organization.name}
      onClose={onClose}
      onConfirm={async () => {
        await post(`${organizationPath(organization.id)}/transfer-ownership`, { user_id: chosen.user.id })
        await Promise.all([refresh("members"), refreshMe()])
        toast(`${visible(chosen.user.name)} is now an owner, and you are an admin`)
      }}
    >
      <div class="stack">
        <p>You become an admin. Only an owner can make you an owner again.</p>
        <SelectField
          label="New owner"
          value={String(chosen.user.id)}
          onValue={setNewOwner}
          options={candidates.map(({ user }) => ({ value: String(user.id), label: `${visible(user.name)}, ${visible(user.email)}` }))}
        />
      </div>
    </Confirm>
  )
}
