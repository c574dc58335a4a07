import { useState } from "preact/hooks"
import { Link, useParams } from "wouter"
import {
  Button,
  type Column,
  DataTable,
  DescriptionList,
  EmptyState,
  ErrorState,
  Form,
  Page,
  patch,
  Skeleton,
  TextField,
  TimeAgo,
  toast,
  visible,
} from "#plugin/ui"
import type { SessionResponse, UserResponse } from "../../account-responses.ts"
import { Part, sentenceCase } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh, useRows } from "../queries.ts"
import { SessionRows } from "./sessions.tsx"
import { UserActions } from "./user-actions.tsx"
import { factorsText } from "./users.tsx"

/** Page of one user: facts, actions, name and email, organizations and sessions. */
export default function UserPage() {
  const { user: id } = useParams<{ user: string }>()
  const { data, error, refetch } = useAdmin<UserResponse>(`users/${id}`)
  const title = data ? visible(data.name || data.email) : "User"
  return (
    <Page title={title} parent={{ href: "/admin/users", label: "All users" }}>
      {data ? <Shown key={data.version} user={data} /> : error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton />}
    </Page>
  )
}

function Shown({ user }: { user: UserResponse }) {
  const sessions = useRows<SessionResponse>("sessions", { user: String(user.id) })
  return (
    <>
      <section class="card">
        <DescriptionList
          of={[
            ["Email", visible(user.email)],
            ["Status", sentenceCase(user.status)],
            ["Instance admin", user.is_instance_admin ? "yes" : "no"],
            ["Signs in with", [user.auth.password && "password", ...user.auth.oidc].filter(Boolean).join(", ") || "not set up yet"],
            ["Second factor", factorsText(user.mfa)],
            ["API keys", String(user.api_keys)],
            ["Created", <TimeAgo key="created" at={user.created_at} />],
            ["Last sign-in", <TimeAgo key="in" at={user.last_login_at} />],
            ["Last seen", <TimeAgo key="seen" at={user.last_seen_at} />],
          ]}
        />
      </section>
      <UserActions user={user} />
      <Part title="Name and email">
        <Names user={user} />
      </Part>
      <Part title="Organizations">
        {user.organizations.length === 0 ? (
          <EmptyState>Not a member of any organization.</EmptyState>
        ) : (
          <DataTable stacks caption="Organizations" columns={MEMBERSHIPS} rows={user.organizations} keyOf={({ id }) => id} />
        )}
      </Part>
      <Part title="Sessions">
        <SessionRows of={sessions} empty="No active sessions." />
      </Part>
    </>
  )
}

const MEMBERSHIPS: Column<UserResponse["organizations"][number]>[] = [
  { id: "name", label: "Organization", cell: ({ id, name }) => <Link href={`/admin/organizations/${id}`}>{visible(name)}</Link> },
  { id: "role", label: "Role", cell: ({ role }) => sentenceCase(role) },
]

function Names({ user }: { user: UserResponse }) {
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
        toast("User saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} autocomplete="off" />
          <TextField label="Email" type="email" value={email} onValue={setEmail} error={errorOf("/email")} autocomplete="off" />
          <div class="row">
            <Button type="submit" busy={busy} disabled={name === user.name && email === user.email}>
              Save changes
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
