import { Link } from "wouter"
import { type Column, Page, remove, visible } from "#plugin/ui"
import { AskedAct } from "./act.tsx"
import type { Named } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN, useFilters, useRows } from "./list.ts"
import { FilterRow, Moment, SearchField, sentenceCase } from "./parts.tsx"
import { Rows } from "./rows.tsx"

interface Invitation {
  id: number
  organization: Named
  email: string
  role: string
  has_account: boolean
  created_at: string
  expires_at: string
  sent_at: string | null
}

/** Who was asked to join an organization and has not answered. */
export default function Invitations() {
  const [filters, setFilters] = useFilters(["q"])
  const refresh = useRefresh()
  const withdraw = async ({ id }: Invitation) => {
    await remove(`${ADMIN}/invitations/${id}`)
    await refresh("invitations", "users")
  }
  return (
    <Page title="Invitations">
      <FilterRow label="Invitations">
        <SearchField label="E-mail or organization" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
      </FilterRow>
      <Rows
        of={useRows<Invitation>("invitations", filters)}
        caption="Invitations"
        columns={columnsOf(withdraw)}
        keyOf={({ id }) => id}
        empty={
          filters.q === undefined
            ? "No invitation is open. Members of organizations make them, on the page of the organization."
            : "No invitation fits this search."
        }
      />
    </Page>
  )
}

const columnsOf = (withdraw: (invitation: Invitation) => Promise<void>): Column<Invitation>[] => [
  {
    id: "email",
    label: "E-mail",
    cell: ({ email, has_account }) => (
      <>
        <span class="address">{visible(email)}</span> {has_account && <span class="badge">has an account</span>}
      </>
    ),
  },
  {
    id: "organization",
    label: "Organization",
    cell: ({ organization }) => <Link href={`/admin/organizations/${organization.id}`}>{visible(organization.name)}</Link>,
  },
  { id: "role", label: "Role", cell: ({ role }) => sentenceCase(role) },
  { id: "made", label: "Made", cell: ({ created_at }) => <Moment at={created_at} /> },
  { id: "mailed", label: "Mailed", cell: ({ sent_at }) => <Moment at={sent_at} none="no: by link" /> },
  { id: "ends", label: "Ends", cell: ({ expires_at }) => <Moment at={expires_at} /> },
  {
    id: "withdraw",
    label: "Withdraw it",
    cell: (invitation) => (
      <AskedAct
        label="Withdraw"
        about={`invitation of ${invitation.email}`}
        title="Withdraw the invitation"
        act="Withdraw"
        onConfirm={() => withdraw(invitation)}
      >
        <p>The link that {visible(invitation.email)} has stops working.</p>
      </AskedAct>
    ),
  },
]
