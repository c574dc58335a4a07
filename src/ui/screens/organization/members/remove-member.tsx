import { useState } from "preact/hooks"
import { remove } from "../../api.ts"
import { Confirm } from "../../parts/confirm.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { type Member, organizationPath, useRefresh } from "./own-organization.ts"

interface RemoveMemberProps {
  organizationId: number
  member: Member
  all: readonly Member[]
  onClose(): void
}

export function RemoveMember({ organizationId, member, all, onClose }: RemoveMemberProps) {
  const refresh = useRefresh(organizationId)
  const [heir, setHeir] = useState("")
  const others = all.filter(({ user }) => user.id !== member.user.id)
  return (
    <Confirm
      title={`Remove ${visible(member.user.name)}`}
      act="Remove from the organization"
      onClose={onClose}
      onConfirm={async () => {
        await remove(`${organizationPath(organizationId)}/members/${member.user.id}`, {
          body: heir === "" ? {} : { transfer_to: Number(heir) },
        })
        await refresh("members", "invitations", "api-keys")
        toast(`${visible(member.user.name)} was removed`)
      }}
    >
      <div class="stack">
        <p>
          They lose access at once. Their roles on sites, their personal API keys and their invitations that nobody has accepted end. Keys
          of the organization that they made go on.
        </p>
        <SelectField
          label="Their private dashboards"
          value={heir}
          onValue={setHeir}
          options={[
            { value: "", label: "Are deleted" },
            ...others.map(({ user }) => ({ value: String(user.id), label: `Go to ${visible(user.name)}` })),
          ]}
        />
      </div>
    </Confirm>
  )
}
