import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link, useLocation, useParams } from "wouter"
import {
  Button,
  bytesText,
  type Column,
  DescriptionList,
  Dialog,
  ErrorState,
  exact,
  Form,
  get,
  Page,
  PagedTable,
  type PrivatePage,
  patch,
  put,
  queryOf,
  remove,
  SelectField,
  Skeleton,
  TextField,
  TimeAgo,
  toast,
  visible,
} from "#plugin/ui"
import type { MemberResponse, OrganizationResponse, UserResponse } from "../../account-responses.ts"
import { ConfirmedAction, Part, ROLES, sentenceCase } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh, useRows } from "../queries.ts"

/** Page of one organization: members, name and deletion. */
export default function OrganizationPage() {
  const { organization: id } = useParams<{ organization: string }>()
  const { data, error, refetch } = useAdmin<OrganizationResponse>(`organizations/${id}`)
  return (
    <Page title={data ? visible(data.name) : "Organization"} parent={{ href: "/admin/organizations", label: "All organizations" }}>
      {data ? (
        <Shown key={data.version} organization={data} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

const membersPath = ({ id }: Pick<OrganizationResponse, "id">): string => `organizations/${id}/members`

function Shown({ organization }: { organization: OrganizationResponse }) {
  const { id, name, owners, members, sites, keys, events_30d, bytes, created_at } = organization
  const refresh = useRefresh()
  const rows = useRows<MemberResponse>(membersPath(organization))
  const [, navigate] = useLocation()
  return (
    <>
      <section class="card">
        <DescriptionList
          of={[
            ["Members", `${exact(members)}, ${owners === 1 ? "one owner" : `${exact(owners)} owners`}`],
            [
              "Sites",
              <Link key="sites" href={`/admin/sites?organization=${id}`}>
                {exact(sites)}
              </Link>,
            ],
            ["API keys", exact(keys)],
            ["Events, 30 days", exact(events_30d)],
            ["Size", bytesText(bytes)],
            ["Created", <TimeAgo key="created" at={created_at} />],
          ]}
        />
      </section>
      <Part title="Members">
        <Members organization={organization} rows={rows} />
      </Part>
      {(rows.rows || rows.error) && (
        <>
          <Part title="Name">
            <Rename organization={organization} />
          </Part>
          <Part title="Delete">
            <p class="quiet">Deletes its sites with all their data, its API keys and its memberships. User accounts stay.</p>
            <div class="row">
              <ConfirmedAction
                label="Delete organization"
                title={`Delete ${name}`}
                act={sites === 0 ? "Delete organization" : `Delete organization and ${sites === 1 ? "1 site" : `${exact(sites)} sites`}`}
                name={name}
                onConfirm={async () => {
                  await remove(`${ADMIN}/organizations/${id}`, { body: { confirm: name } })
                  toast("Organization deleted. Its sites will be deleted within a few minutes.")
                  navigate("/admin/organizations")
                  await refresh("organizations", "sites", "users")
                }}
              >
                <p>This can't be undone.</p>
              </ConfirmedAction>
            </div>
          </Part>
        </>
      )}
    </>
  )
}

function Rename({ organization }: { organization: OrganizationResponse }) {
  const [name, setName] = useState(organization.name)
  const refresh = useRefresh()
  return (
    <Form
      submit={async () => {
        await patch(`${ADMIN}/organizations/${organization.id}`, { name: name.trim(), version: organization.version })
        await refresh("organizations")
        toast("Name saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} />
          <div class="row">
            <Button type="submit" busy={busy} disabled={name === organization.name}>
              Save changes
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

type Change = { user: { id: number; email: string }; role: string }

/** Members of an organization. Instance admins can also change owners. */
function Members({ organization, rows }: { organization: OrganizationResponse; rows: ReturnType<typeof useRows<MemberResponse>> }) {
  const path = membersPath(organization)
  const [changing, setChanging] = useState<Change | "new">()
  const refresh = useRefresh()
  const removeMember = async ({ user }: MemberResponse) => {
    await remove(`${ADMIN}/${path}/${user.id}`)
    await refresh("organizations", "users")
  }
  return (
    <>
      <PagedTable
        stacks
        of={rows}
        caption="Members"
        columns={columnsOf(setChanging, removeMember)}
        keyOf={({ user }) => user.id}
        empty="No members yet. Add a user as the owner."
      />
      <div class="row">
        <Button icon="plus" onClick={() => setChanging("new")}>
          Add member
        </Button>
      </div>
      {changing && <RoleDialog path={path} changing={changing} onClose={() => setChanging(undefined)} />}
    </>
  )
}

const columnsOf = (change: (member: Change) => void, removeMember: (member: MemberResponse) => Promise<void>): Column<MemberResponse>[] => [
  {
    id: "email",
    label: "Email",
    cell: ({ user }) => (
      <Link class="address" href={`/admin/users/${user.id}`}>
        {visible(user.email)}
      </Link>
    ),
  },
  { id: "name", label: "Name", cell: ({ user }) => <span class="whole">{visible(user.name)}</span> },
  { id: "role", label: "Role", cell: ({ role }) => sentenceCase(role) },
  { id: "mfa", label: "Second factor", cell: ({ mfa }) => (mfa ? "yes" : "no") },
  { id: "seen", label: "Last seen", cell: ({ last_seen_at }) => <TimeAgo at={last_seen_at} /> },
  {
    id: "change",
    label: "Actions",
    cell: (member) => (
      <div class="row">
        <Button aria-label={`Change the role of ${member.user.email}`} onClick={() => change(member)}>
          Change role
        </Button>
        <ConfirmedAction
          label="Remove"
          about={member.user.email}
          title={`Remove ${member.user.email}`}
          act="Remove member"
          onConfirm={() => removeMember(member)}
        >
          <p>Removes access to the organization. The user account stays.</p>
        </ConfirmedAction>
      </div>
    ),
  },
]

/** Dialog that adds a user with a role, or changes the role of a member. */
function RoleDialog({ path, changing, onClose }: { path: string; changing: Change | "new"; onClose(): void }) {
  const [email, setEmail] = useState(changing === "new" ? "" : changing.user.email)
  const [role, setRole] = useState(changing === "new" ? "owner" : changing.role)
  const refresh = useRefresh()
  const found = useUserLike(changing === "new" ? email.trim() : "")
  const user = changing === "new" ? found : changing.user
  return (
    <Dialog title={changing === "new" ? "Add member" : `Role of ${changing.user.email}`} onClose={onClose} small>
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
                label="Email of an existing user"
                type="email"
                value={email}
                onValue={setEmail}
                autocomplete="off"
                autofocus
                note={email.trim() === "" ? "" : found ? `Found: ${visible(found.name)}` : "No user has this email address."}
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

/** Finds the user with exactly this email address. */
function useUserLike(email: string): { id: number; name: string; email: string } | undefined {
  const { data } = useQuery({
    queryKey: ["admin", "users", "like", email],
    queryFn: ({ signal }) => get<PrivatePage<UserResponse>>(`${ADMIN}/users${queryOf({ q: email, limit: "10" })}`, signal),
    enabled: email.includes("@"),
  })
  const found = data?.data.find((user) => user.email.toLowerCase() === email.toLowerCase())
  return found && found.id !== null ? { ...found, id: found.id } : undefined
}
