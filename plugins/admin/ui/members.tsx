import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import { Button, type Column, Dialog, Form, get, put, remove, SelectField, TextField, visible } from "#plugin/ui"
import { AskedAct } from "./act.tsx"
import type { Listed, Member, Organization, User } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN, queryOf, useRows } from "./list.ts"
import { Moment, sentenceCase } from "./parts.tsx"
import { ROLES } from "./roles.ts"
import { Rows } from "./rows.tsx"

type Change = { user: { id: number; email: string }; role: string }

/** Who belongs to an organization; an instance admin changes owners too. */
export function Members({ organization }: { organization: Organization }) {
  const path = `organizations/${organization.id}/members`
  const [changing, setChanging] = useState<Change | "new">()
  const refresh = useRefresh()
  const takeOut = async ({ user }: Member) => {
    await remove(`${ADMIN}/${path}/${user.id}`)
    await refresh("organizations", "users")
  }
  return (
    <>
      <Rows
        of={useRows<Member>(path)}
        caption="Members"
        columns={columnsOf(setChanging, takeOut)}
        keyOf={({ user }) => user.id}
        empty="Nobody belongs to it: add a user as its owner."
      />
      <div class="row">
        <Button icon="plus" onClick={() => setChanging("new")}>
          Add a member
        </Button>
      </div>
      {changing && <RoleDialog path={path} changing={changing} onClose={() => setChanging(undefined)} />}
    </>
  )
}

const columnsOf = (change: (member: Change) => void, takeOut: (member: Member) => Promise<void>): Column<Member>[] => [
  {
    id: "email",
    label: "E-mail",
    cell: ({ user }) => (
      <Link class="address" href={`/admin/users/${user.id}`}>
        {visible(user.email)}
      </Link>
    ),
  },
  { id: "name", label: "Name", cell: ({ user }) => <span class="whole">{visible(user.name)}</span> },
  { id: "role", label: "Role", cell: ({ role }) => sentenceCase(role) },
  { id: "mfa", label: "Second factor", cell: ({ mfa }) => (mfa ? "yes" : "no") },
  { id: "seen", label: "Last seen", cell: ({ last_seen_at }) => <Moment at={last_seen_at} /> },
  {
    id: "change",
    label: "Change",
    cell: (member) => (
      <div class="row">
        <Button aria-label={`Change the role of ${member.user.email}`} onClick={() => change(member)}>
          Role
        </Button>
        <AskedAct
          label="Remove"
          about={member.user.email}
          title={`Remove ${member.user.email}`}
          act="Remove member"
          onConfirm={() => takeOut(member)}
        >
          <p>The account stays; what belongs to the organization is no longer seen.</p>
        </AskedAct>
      </div>
    ),
  },
]

/** A role for a member, or for somebody who becomes one. */
function RoleDialog({ path, changing, onClose }: { path: string; changing: Change | "new"; onClose(): void }) {
  const [email, setEmail] = useState(changing === "new" ? "" : changing.user.email)
  const [role, setRole] = useState(changing === "new" ? "owner" : changing.role)
  const refresh = useRefresh()
  const found = useUserLike(changing === "new" ? email.trim() : "")
  const user = changing === "new" ? found : changing.user
  return (
    <Dialog title={changing === "new" ? "Add a member" : `Role of ${changing.user.email}`} onClose={onClose} small>
      <Form
        submit={async () => {
          await put(`${ADMIN}/${path}/${user?.id}`, { role })
          await refresh("organizations", "users")
          onClose()
        }}
      >
        {({ busy, errorOf }) => (
          <>
            {changing === "new" && (
              <TextField
                label="E-mail of a user"
                type="email"
                value={email}
                onValue={setEmail}
                autocomplete="off"
                autofocus
                note={email.trim() === "" ? "" : found ? `Found: ${visible(found.name)}` : "No user has exactly this address."}
              />
            )}
            <SelectField
              label="Role"
              value={role}
              options={ROLES.map((value) => ({ value, label: sentenceCase(value) }))}
              onValue={setRole}
              error={errorOf("/role")}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={!user}>
                {changing === "new" ? "Add member" : "Change role"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** The user who has exactly this address. */
function useUserLike(email: string): { id: number; name: string; email: string } | undefined {
  const { data } = useQuery({
    queryKey: ["admin", "users", "like", email],
    queryFn: ({ signal }) => get<Listed<User>>(`${ADMIN}/users${queryOf({ q: email, limit: "10" })}`, signal),
    enabled: email.includes("@"),
  })
  const found = data?.data.find((user) => user.email.toLowerCase() === email.toLowerCase())
  return found && found.id !== null ? { ...found, id: found.id } : undefined
}
