import { useState } from "preact/hooks"
import type { Role } from "../../../../domain/organization.ts"
import { patch } from "../../../api/api.ts"
import { useMe, useRefreshMe } from "../../../api/session.ts"
import { Button } from "../../../parts/button.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { type Member, type OwnOrganization, organizationPath, useRefresh } from "../own-organization.ts"
import { type Exceptions, ExceptionsField } from "./exceptions-field.tsx"
import { permissionsHeld, ROLE_WORDS, rolesBelow } from "./roles.ts"
import { SiteRoles } from "./site-roles.tsx"

interface MemberDialogProps {
  organization: OwnOrganization
  member: Member
  onClose(): void
}

/** Edits the role, exceptions and site-specific roles of a member. */
export function MemberDialog({ organization, member, onClose }: MemberDialogProps) {
  const me = useMe()
  const refresh = useRefresh(organization.id)
  const refreshMe = useRefreshMe()
  const [role, setRole] = useState(member.role)
  const [exceptions, setExceptions] = useState<Exceptions>({ grants: member.grants, denies: member.denies })
  // An owner can't be denied anything, and a guest's permissions come from site-specific roles.
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
              // Also after a version conflict, so that the next attempt starts from the current version.
              await refresh("members")
            }
            if (member.user.id === me?.user.id) await refreshMe()
            toast(`${visible(member.user.name)} now has the ${ROLE_WORDS[role as Role].label} role`)
            onClose()
          }}
        >
          {({ busy, errorOf }) => (
            <>
              <SelectField
                label="Role"
                value={role}
                onValue={setRole}
                options={roles.map((one) => ({ value: one, label: `${ROLE_WORDS[one].label}: ${ROLE_WORDS[one].description}` }))}
                error={errorOf("/role")}
              />
              {hasExceptions && <ExceptionsField role={role as Role} held={held} value={exceptions} onValue={setExceptions} />}
              <div class="row">
                <Button kind="primary" type="submit" busy={busy}>
                  Save changes
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
