import { useState } from "preact/hooks"
import { Link, useParams } from "wouter"
import { Button, type Column, DataTable, EmptyState, ErrorState, Form, Page, patch, Skeleton, TextField, toast, visible } from "#plugin/ui"
import type { Session, User } from "./answers.ts"
import { useAdmin, useRefresh } from "./ask.ts"
import { ADMIN, useRows } from "./list.ts"
import { Facts, Moment, Part, sentenceCase } from "./parts.tsx"
import { SessionRows } from "./session-rows.tsx"
import { UserActs } from "./user-acts.tsx"
import { factorsText } from "./users.tsx"

/** One user: what they belong to, where they are signed in, and what can be done for them. */
export default function UserPage() {
  const { user: id } = useParams<{ user: string }>()
  const { data, error, refetch } = useAdmin<User>(`users/${id}`)
  const title = data ? visible(data.name || data.email) : "User"
  return (
    <Page title={title}>
      <p>
        <Link href="/admin/users">All users</Link>
      </p>
      {data ? <Shown key={data.version} user={data} /> : error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton />}
    </Page>
  )
}

function Shown({ user }: { user: User }) {
  const sessions = useRows<Session>("sessions", { user: String(user.id) })
  return (
    <>
      <Facts
        of={[
          ["E-mail", visible(user.email)],
          ["Status", sentenceCase(user.status)],
          ["Instance admin", user.is_instance_admin ? "yes" : "no"],
          ["Signs in by", [user.auth.password && "password", ...user.auth.oidc].filter(Boolean).join(", ") || "nothing yet"],
          ["Second factor", factorsText(user.mfa)],
          ["API keys", String(user.api_keys)],
          ["Since", <Moment key="since" at={user.created_at} />],
          ["Last sign-in", <Moment key="in" at={user.last_login_at} />],
          ["Last seen", <Moment key="seen" at={user.last_seen_at} />],
        ]}
      />
      <UserActs user={user} />
      <Part title="Name and address">
        <Names user={user} />
      </Part>
      <Part title="Organizations">
        {user.organizations.length === 0 ? (
          <EmptyState>A member of no organization.</EmptyState>
        ) : (
          <DataTable caption="Organizations" columns={MEMBERSHIPS} rows={user.organizations} keyOf={({ id }) => id} />
        )}
      </Part>
      <Part title="Sessions">
        <SessionRows of={sessions} empty="Not signed in anywhere." />
      </Part>
    </>
  )
}

const MEMBERSHIPS: Column<User["organizations"][number]>[] = [
  { id: "name", label: "Organization", cell: ({ id, name }) => <Link href={`/admin/organizations/${id}`}>{visible(name)}</Link> },
  { id: "role", label: "Role", cell: ({ role }) => sentenceCase(role) },
]

function Names({ user }: { user: User }) {
  const [name, setName] = useState(user.name)
  const [email, setEmail] = useState(user.email)
  const refresh = useRefresh()
  return (
    <Form
      submit={async () => {
        await patch(`${ADMIN}/users/${user.id}`, {
          ...(name !== user.name && { name }),
          ...(email !== user.email && { email }),
          version: user.version,
        })
        await refresh("users")
        toast("Saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} autocomplete="off" />
          <TextField label="E-mail" type="email" value={email} onValue={setEmail} error={errorOf("/email")} autocomplete="off" />
          <div class="row">
            <Button type="submit" busy={busy} disabled={name === user.name && email === user.email}>
              Save
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
