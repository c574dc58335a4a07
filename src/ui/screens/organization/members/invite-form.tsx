import { useState } from "preact/hooks"
import { post } from "../../../api/api.ts"
import { Button } from "../../../parts/button.tsx"
import { SelectField, TextField } from "../../../parts/form/fields.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { type OwnOrganization, organizationPath, useOwnSites } from "../own-organization.ts"
import { SiteChoices } from "../site-choices.tsx"
import type { Invitation } from "./invitations.tsx"
import { ROLE_WORDS, rolesBelow } from "./roles.ts"

interface InviteFormProps {
  organization: OwnOrganization
  onInvited(invitation: Invitation): Promise<unknown>
}

/** Invites a person by email, or by a link to share if the instance can't send email. */
export function InviteForm({ organization, onInvited }: InviteFormProps) {
  const sites = useOwnSites(organization.id)
  const [email, setEmail] = useState("")
  const [role, setRole] = useState("viewer")
  const [chosen, setChosen] = useState<readonly number[]>([])
  const isGuest = role === "guest"
  return (
    <section class="card stack" aria-labelledby="invite">
      <h2 id="invite">Invite a member</h2>
      <Form
        label="Invite a member"
        submit={async () => {
          const invitation = await post<Invitation>(`${organizationPath(organization.id)}/members/invite`, {
            email,
            role,
            ...(isGuest && { site_ids: chosen }),
          })
          setEmail("")
          setChosen([])
          await onInvited(invitation)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Email"
              type="email"
              autocomplete="off"
              value={email}
              onValue={setEmail}
              error={errorOf("/email")}
              note="Only this address can accept the invitation, within seven days."
            />
            <SelectField
              label="Role"
              value={role}
              onValue={setRole}
              options={rolesBelow(organization.role).map((one) => ({
                value: one,
                label: `${ROLE_WORDS[one].label}: ${ROLE_WORDS[one].description}`,
              }))}
              error={errorOf("/role")}
            />
            {isGuest && (
              <SiteChoices
                legend="Sites the guest can see"
                sites={sites}
                chosen={chosen}
                onChosen={setChosen}
                emptyNote="Choose at least one site. Guests only see the sites you choose."
                error={errorOf("/site_ids")}
              />
            )}
            <div class="row">
              <Button kind="primary" type="submit" busy={busy}>
                Send invitation
              </Button>
            </div>
          </>
        )}
      </Form>
    </section>
  )
}
