import { useState } from "preact/hooks"
import { Link, useLocation } from "wouter"
import {
  Button,
  Checkbox,
  type Column,
  Dialog,
  FilterRow,
  Form,
  Page,
  PagedTable,
  post,
  SearchField,
  SelectField,
  SortField,
  TextField,
  TimeAgo,
  toast,
  useFilters,
  visible,
} from "#plugin/ui"
import type { OrganizationResponse, UserResponse } from "../../account-responses.ts"
import { OrganizationField } from "../fields.tsx"
import { ROLES, SecretLinkDialog, sentenceCase, withAny } from "../parts.tsx"
import { ADMIN, useRefresh, useRows } from "../queries.ts"

const NAMES = ["q", "role", "status", "mfa", "sort", "organization"]

/** Page of all users and invited people of all organizations. */
export default function Users() {
  const [filters, setFilters] = useFilters(NAMES)
  const users = useRows<UserResponse>("users", filters)
  const [isCreating, setCreating] = useState(false)
  const order = {
    columns: COLUMNS,
    sort: shownSort(filters.sort),
    onSort: (sort: string) => setFilters({ sort: sort.replace("-", "") }),
  }
  return (
    <Page
      title="Users"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New user
        </Button>
      }
    >
      <FilterRow label="Users">
        <SearchField label="Name or email" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
        <SelectField label="Role" value={filters.role ?? ""} options={withAny(ROLES)} onValue={(role) => setFilters({ role })} />
        <SelectField
          label="Status"
          value={filters.status ?? ""}
          options={withAny(["active", "invited", "disabled"])}
          onValue={(status) => setFilters({ status })}
        />
        <SelectField
          label="Second factor"
          value={filters.mfa ?? ""}
          options={[
            { value: "", label: "Any" },
            { value: "true", label: "Enabled" },
            { value: "false", label: "Not enabled" },
          ]}
          onValue={(mfa) => setFilters({ mfa })}
        />
      </FilterRow>
      <SortField {...order} />
      <PagedTable
        stacks
        of={users}
        caption="Users"
        keyOf={({ id, invitation_id }) => id ?? `invited ${invitation_id}`}
        empty="No users match these filters."
        {...order}
      />
      {isCreating && <NewUser onClose={() => setCreating(false)} />}
    </Page>
  )
}

/** Sorts emails ascending, times descending. */
const shownSort = (sort = "email"): string => (sort === "email" ? sort : `-${sort}`)

const COLUMNS: Column<UserResponse>[] = [
  {
    id: "email",
    label: "Email",
    sort: "email",
    cell: ({ id, email, is_instance_admin }) => (
      <>
        <span class="address">{id === null ? visible(email) : <Link href={`/admin/users/${id}`}>{visible(email)}</Link>}</span>{" "}
        {is_instance_admin && <span class="badge">instance admin</span>}
      </>
    ),
  },
  { id: "name", label: "Name", cell: ({ name }) => <span class="whole">{visible(name)}</span> },
  { id: "status", label: "Status", cell: ({ status }) => sentenceCase(status) },
  {
    id: "organizations",
    label: "Organizations",
    cell: ({ organizations }) => (
      <div>{organizations.map(({ name, role }) => `${visible(name)} (${role})`).join(", ") || <span class="quiet">none</span>}</div>
    ),
  },
  { id: "mfa", label: "Second factor", cell: ({ mfa }) => factorsText(mfa) },
  { id: "created", label: "Created", sort: "created_at", cell: ({ created_at }) => <TimeAgo at={created_at} /> },
  { id: "seen", label: "Last seen", sort: "last_seen_at", cell: ({ last_seen_at }) => <TimeAgo at={last_seen_at} /> },
]

export const factorsText = ({ totp, passkeys }: UserResponse["mfa"]): string =>
  [totp && "app", passkeys > 0 && (passkeys === 1 ? "passkey" : `${passkeys} passkeys`)].filter(Boolean).join(", ") || "none"

/** Dialog that creates a user. The user chooses a password through a link that is sent by email or, without a mail server, shown once. */
export function NewUser({ onClose }: { onClose(): void }) {
  const [email, setEmail] = useState("")
  const [name, setName] = useState("")
  const [organization, setOrganization] = useState<OrganizationResponse["id"]>()
  const [role, setRole] = useState("viewer")
  const [isAdmin, setAdmin] = useState(false)
  const [created, setCreated] = useState<UserResponse & { link?: string }>()
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  if (created?.link !== undefined)
    return (
      <SecretLinkDialog title="User created" link={created.link} onClose={() => navigate(`/admin/users/${created.id}`)}>
        <p>Send this link to {created.email}. They can choose a password with it within seven days. The link is shown only once.</p>
      </SecretLinkDialog>
    )
  return (
    <Dialog title="New user" onClose={onClose}>
      <Form
        submit={async () => {
          const user = await post<UserResponse & { link?: string }>(`${ADMIN}/users`, {
            email: email.trim(),
            name: name.trim(),
            ...(organization !== undefined && { organization_id: organization, role }),
            ...(isAdmin && { is_instance_admin: true }),
            send_invitation: true,
          })
          await refresh("users")
          if (user.link !== undefined) return setCreated(user)
          toast(`Email with a link sent to ${user.email}`)
          navigate(`/admin/users/${user.id}`)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField label="Email" type="email" value={email} onValue={setEmail} error={errorOf("/email")} autocomplete="off" autofocus />
            <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} autocomplete="off" />
            <OrganizationField value={organization} onValue={setOrganization} error={errorOf("/organization_id")} />
            {organization !== undefined && (
              <SelectField
                label="Role in the organization"
                value={role}
                options={ROLES.map((value) => ({ value, label: sentenceCase(value) }))}
                onValue={setRole}
                error={errorOf("/role")}
              />
            )}
            <Checkbox
              label="Instance admin"
              note="Can use this console and manage all users, organizations and sites."
              checked={isAdmin}
              onChange={setAdmin}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Create user
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
