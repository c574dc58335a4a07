import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, Choice, Dialog, Form, post, SelectField, TextField, toast } from "#plugin/ui"
import { LinkShown } from "./act.tsx"
import type { Organization, User } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { OrganizationField } from "./organization-field.tsx"
import { sentenceCase } from "./parts.tsx"
import { ROLES } from "./roles.ts"

/** Makes a user, who then chooses a password by a link: mailed, or shown once. */
export function NewUser({ onClose }: { onClose(): void }) {
  const [email, setEmail] = useState("")
  const [name, setName] = useState("")
  const [organization, setOrganization] = useState<Organization["id"]>()
  const [role, setRole] = useState("viewer")
  const [isAdmin, setAdmin] = useState(false)
  const [made, setMade] = useState<User & { link?: string }>()
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  if (made?.link !== undefined)
    return (
      <LinkShown title="The user is made" link={made.link} onClose={() => navigate(`/admin/users/${made.id}`)}>
        <p>Hand this link to {made.email}: it lets them choose a password within seven days. It is shown this once.</p>
      </LinkShown>
    )
  return (
    <Dialog title="Add a user" onClose={onClose}>
      <Form
        submit={async () => {
          const user = await post<User & { link?: string }>(`${ADMIN}/users`, {
            email: email.trim(),
            name: name.trim(),
            ...(organization !== undefined && { organization_id: organization, role }),
            ...(isAdmin && { is_instance_admin: true }),
            send_invitation: true,
          })
          await refresh("users")
          if (user.link !== undefined) return setMade(user)
          toast(`${user.email} gets a mail with a link`)
          navigate(`/admin/users/${user.id}`)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="E-mail"
              type="email"
              value={email}
              onValue={setEmail}
              error={errorOf("/email")}
              autocomplete="off"
              autofocus
            />
            <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} autocomplete="off" />
            <OrganizationField value={organization} onValue={setOrganization} error={errorOf("/organization_id")} />
            {organization !== undefined && (
              <SelectField
                label="Role in it"
                value={role}
                options={ROLES.map((value) => ({ value, label: sentenceCase(value) }))}
                onValue={setRole}
                error={errorOf("/role")}
              />
            )}
            <Choice
              label="Instance admin"
              note="Runs the instance: this console, and everybody in it."
              checked={isAdmin}
              onChange={setAdmin}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Add user
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
