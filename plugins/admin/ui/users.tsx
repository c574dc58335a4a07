import { useState } from "preact/hooks"
import { Link } from "wouter"
import { Button, type Column, Page, SelectField, visible } from "#plugin/ui"
import type { User } from "./answers.ts"
import { useFilters, useRows } from "./list.ts"
import { NewUser } from "./new-user.tsx"
import { FilterRow, Moment, SearchField, sentenceCase, withAny } from "./parts.tsx"
import { ROLES } from "./roles.ts"
import { Rows } from "./rows.tsx"

const NAMES = ["q", "role", "status", "mfa", "sort", "organization"]

/** Everybody who may sign in, of all organizations, and who is invited. */
export default function Users() {
  const [filters, setFilters] = useFilters(NAMES)
  const users = useRows<User>("users", filters)
  const [isMaking, setMaking] = useState(false)
  return (
    <Page
      title="Users"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          Add a user
        </Button>
      }
    >
      <FilterRow label="Users">
        <SearchField label="Name or e-mail" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
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
            { value: "true", label: "Has one" },
            { value: "false", label: "Has none" },
          ]}
          onValue={(mfa) => setFilters({ mfa })}
        />
      </FilterRow>
      <Rows
        of={users}
        caption="Users"
        columns={COLUMNS}
        keyOf={({ id, invitation_id }) => id ?? `invited ${invitation_id}`}
        empty="Nobody fits these filters."
        sort={shownSort(filters.sort)}
        onSort={(sort) => setFilters({ sort: sort.replace("-", "") })}
      />
      {isMaking && <NewUser onClose={() => setMaking(false)} />}
    </Page>
  )
}

/** Addresses from A on, times from the latest on. */
const shownSort = (sort = "email"): string => (sort === "email" ? sort : `-${sort}`)

const COLUMNS: Column<User>[] = [
  {
    id: "email",
    label: "E-mail",
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
  { id: "created", label: "Since", sort: "created_at", cell: ({ created_at }) => <Moment at={created_at} /> },
  { id: "seen", label: "Last seen", sort: "last_seen_at", cell: ({ last_seen_at }) => <Moment at={last_seen_at} /> },
]

export const factorsText = ({ totp, passkeys }: User["mfa"]): string =>
  [totp && "app", passkeys > 0 && (passkeys === 1 ? "passkey" : `${passkeys} passkeys`)].filter(Boolean).join(", ") || "none"
