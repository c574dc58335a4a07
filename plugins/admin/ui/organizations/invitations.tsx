import { Link } from "wouter"
import { type Column, FilterRow, Page, PagedTable, remove, SearchField, TimeAgo, useFilters, visible } from "#plugin/ui"
import type { InvitationResponse } from "../../account-responses.ts"
import { ConfirmedAction, sentenceCase } from "../parts.tsx"
import { ADMIN, useRefresh, useRows } from "../queries.ts"

/** Page of the open invitations of all organizations. */
export default function Invitations() {
  const [filters, setFilters] = useFilters(["q"])
  const refresh = useRefresh()
  const withdraw = async ({ id }: InvitationResponse) => {
    await remove(`${ADMIN}/invitations/${id}`)
    await refresh("invitations", "users")
  }
  return (
    <Page title="Invitations">
      <FilterRow label="Invitations">
        <SearchField label="Email or organization" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
      </FilterRow>
      <PagedTable
        stacks
        of={useRows<InvitationResponse>("invitations", filters)}
        caption="Invitations"
        columns={columnsOf(withdraw)}
        keyOf={({ id }) => id}
        empty={
          filters.q === undefined
            ? "No open invitations. Members are invited on an organization's page."
            : "No invitations match this search."
        }
      />
    </Page>
  )
}

const columnsOf = (withdraw: (invitation: InvitationResponse) => Promise<void>): Column<InvitationResponse>[] => [
  {
    id: "email",
    label: "Email",
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
  { id: "created", label: "Created", cell: ({ created_at }) => <TimeAgo at={created_at} /> },
  { id: "sent", label: "Emailed", cell: ({ sent_at }) => <TimeAgo at={sent_at} none="no, link only" /> },
  { id: "expires", label: "Expires", cell: ({ expires_at }) => <TimeAgo at={expires_at} /> },
  {
    id: "withdraw",
    label: "Actions",
    cell: (invitation) => (
      <ConfirmedAction
        label="Withdraw"
        about={`invitation of ${invitation.email}`}
        title="Withdraw invitation"
        act="Withdraw invitation"
        onConfirm={() => withdraw(invitation)}
      >
        <p>The link sent to {visible(invitation.email)} stops working.</p>
      </ConfirmedAction>
    ),
  },
]
