import { useState } from "preact/hooks"
import { remove } from "../../../api/api.ts"
import { Confirm } from "../../../parts/confirm.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { type Member, organizationPath, useRefresh } from "../own-organization.ts"

interface RemoveMemberProps {
  organizationId: number
  member: Member
  all: readonly Member[]
  onClose(): void
}

export function RemoveMember({ organizationId, member, all, onClose }: RemoveMemberProps) {
  const refresh = useRefresh(organizationId)
  const [newOwner, setNewOwner] = useState("")
  const others = all.filter(({ user }) => user.id !== member.user.id)
  return (
    <Confirm
      title={`Remove ${visible(member.user.name)}?`}
      act="Remove member"
      onClose={onClose}
      onConfirm={async () => {
        await remove(`${organizationPath(organizationId)}/members/${member.user.id}`, {
          body: newOwner === "" ? {} : { transfer_to: Number(newOwner) },
        })
        await refresh("members", "invitations", "api-keys")
        toast(`${visible(member.user.name)} removed`)
      }}
    >
      <div class="stack">
        <p>
          They lose access immediately. Their site-specific roles, personal API keys and pending invitations are revoked. Other keys they
          created keep working.
        </p>
        <SelectField
          label="Their private dashboards"
          value={newOwner}
          onValue={setNewOwner}
          options={[
            { value: "", label: "Delete" },
            ...others.map(({ user }) => ({ value: String(user.id), label: `Transfer to ${visible(user.name)}` })),
          ]}
        />
      </div>
    </Confirm>
  )
}
