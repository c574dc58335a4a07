import { useState } from "preact/hooks"
import { post } from "../../api.ts"
import { Button } from "../../parts/button.tsx"
import { SelectField, TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import type { Invitation } from "./invitations.tsx"
import { type OwnOrganization, organizationPath, useOwnSites } from "./own-organization.ts"
import { ROLE_WORDS, rolesBelow } from "./roles.ts"
import { SiteChoices } from "./site-choices.tsx"

interface InviteFormProps {
  organization: OwnOrganization
  onInvited(invitation: Invitation): Promise<unknown>
}

/** Asks somebody to join, by mail where the instance sends mail, else by a link to hand on. */
export function InviteForm({ organization, onInvited }: InviteFormProps) {
  const sites = useOwnSites(organization.id)
  const [email, setEmail] = useState("")
  const [role, setRole] = useState("viewer")
  const [chosen, setChosen] = useState<readonly number[]>([])
  const isGuest = role === "guest"
  return (
    <section class="card stack" aria-labelledby="invite">
      <h2 id="invite">Invite somebody</h2>
      <Form
        label="Invite somebody"
        submit={async () => {
          const made = await post<Invitation>(`${organizationPath(organization.id)}/members/invite`, {
            email,
            role,
            ...(isGuest && { site_ids: chosen }),
          })
          setEmail("")
          setChosen([])
          await onInvited(made)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="E-mail"
              type="email"
              autocomplete="off"
              value={email}
              onValue={setEmail}
              error={errorOf("/email")}
              note="The invitation holds for this address, and for seven days."
            />
            <SelectField
              label="Role"
              value={role}
              onValue={setRole}
              options={rolesBelow(organization.role).map((one) => ({
                value: one,
                label: `${ROLE_WORDS[one].label}: ${ROLE_WORDS[one].says}`,
              }))}
              error={errorOf("/role")}
            />
            {isGuest && (
              <SiteChoices
                legend="Sites for the guest"
                sites={sites}
                chosen={chosen}
                onChosen={setChosen}
                emptyNote="Choose at least one: a guest sees no others."
                error={errorOf("/site_ids")}
              />
            )}
            <div class="row">
              <Button kind="primary" type="submit" busy={busy}>
                Invite
              </Button>
            </div>
          </>
        )}
      </Form>
    </section>
  )
}
