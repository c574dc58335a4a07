import { useState } from "preact/hooks"
import type { Role } from "../../../domain/organization.ts"
import { patch } from "../../api.ts"
import { useMe, useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { type Exceptions, ExceptionsField } from "./exceptions-field.tsx"
import { type Member, type OwnOrganization, organizationPath, useRefresh } from "./own-organization.ts"
import { permissionsHeld, ROLE_WORDS, rolesBelow } from "./roles.ts"
import { SiteRoles } from "./site-roles.tsx"

interface MemberDialogProps {
  organization: OwnOrganization
  member: Member
  onClose(): void
}

/** Role, exceptions from it, and roles on single sites of one member. */
export function MemberDialog({ organization, member, onClose }: MemberDialogProps) {
  const me = useMe()
  const refresh = useRefresh(organization.id)
  const refreshMe = useRefreshMe()
  const [role, setRole] = useState(member.role)
  const [exceptions, setExceptions] = useState<Exceptions>({ grants: member.grants, denies: member.denies })
  // An owner cannot be denied anything, and a guest has what rows of sites give.
  const hasExceptions = role !== "owner" && role !== "guest"
  const roles = rolesBelow(organization.role).filter((one) => organization.role === "owner" || one !== "owner")
  const held = permissionsHeld(organization, me?.sites ?? [])
  return (
    <Dialog title={visible(member.user.name)} onClose={onClose}>
      <div class="stack">
        <Form
          label="Role and exceptions"
          submit={async () => {
            const { grants, denies } = hasExceptions ? exceptions : { grants: [], denies: [] }
            const path = `${organizationPath(organization.id)}/members/${member.user.id}`
            try {
              await patch(path, { role, grants, denies, version: member.version })
            } finally {
              // Also when it was refused because somebody else was faster: the next try is on what stands now.
              await refresh("members")
            }
            if (member.user.id === me?.user.id) await refreshMe()
            toast(`${visible(member.user.name)} is ${ROLE_WORDS[role as Role].label.toLowerCase()} now`)
            onClose()
          }}
        >
          {({ busy, errorOf }) => (
            <>
              <SelectField
                label="Role"
                value={role}
                onValue={setRole}
                options={roles.map((one) => ({ value: one, label: `${ROLE_WORDS[one].label}: ${ROLE_WORDS[one].says}` }))}
                error={errorOf("/role")}
              />
              {hasExceptions && <ExceptionsField role={role as Role} held={held} value={exceptions} onValue={setExceptions} />}
              <div class="row">
                <Button kind="primary" type="submit" busy={busy}>
                  Save
                </Button>
                <Button onClick={onClose}>Cancel</Button>
              </div>
            </>
          )}
        </Form>
        {member.role !== "owner" && member.role !== "admin" && <SiteRoles organization={organization} member={member} />}
      </div>
    </Dialog>
  )
}
