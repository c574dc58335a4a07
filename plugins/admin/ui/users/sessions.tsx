import { type Column, FilterRow, Page, PagedTable, remove, SearchField, TimeAgo, useFilters, visible } from "#plugin/ui"
import type { SessionResponse } from "../../account-responses.ts"
import { ConfirmedAction, sentenceCase } from "../parts.tsx"
import { ADMIN, useRefresh, useRows } from "../queries.ts"

/** Page of all active sessions. */
export default function Sessions() {
  const [filters, setFilters] = useFilters(["q"])
  return (
    <Page title="Sessions">
      <FilterRow label="Sessions">
        <SearchField label="User, device, location or network" value={filters.q ?? ""} onValue={(q) => setFilters({ q })} />
      </FilterRow>
      <SessionRows
        of={useRows<SessionResponse>("sessions", filters)}
        empty={filters.q === undefined ? "No active sessions." : "No sessions match this search."}
      />
    </Page>
  )
}

/** Table of sessions with a button to end each. */
export function SessionRows({ of, empty }: { of: ReturnType<typeof useRows<SessionResponse>>; empty: string }) {
  const refresh = useRefresh()
  const end = async ({ id }: SessionResponse) => {
    await remove(`${ADMIN}/sessions/${id}`)
    await refresh("sessions", "users")
  }
  return <PagedTable stacks of={of} caption="Sessions" columns={columnsOf(end)} keyOf={({ id }) => id} empty={empty} />
}

const columnsOf = (end: (session: SessionResponse) => Promise<void>): Column<SessionResponse>[] => [
  {
    id: "user",
    label: "User",
    cell: ({ user, current, impersonation }) => (
      <>
        <span class="address">{visible(user.email)}</span> {current && <span class="badge">current</span>}
        {impersonation && <span class="badge">impersonated by {visible(impersonation.by)}</span>}
      </>
    ),
  },
  { id: "device", label: "Device", cell: ({ device }) => <span class="whole">{visible(device)}</span> },
  { id: "place", label: "Location", cell: ({ place, ip_prefix }) => visible([place, ip_prefix].filter(Boolean).join(", ")) },
  {
    id: "method",
    label: "Signed in with",
    cell: ({ method, mfa }) => (
      <>
        <span class="whole">{sentenceCase(method)}</span>
        {mfa && <span class="whole"> and second factor</span>}
      </>
    ),
  },
  { id: "seen", label: "Last seen", cell: ({ last_seen_at }) => <TimeAgo at={last_seen_at} /> },
  { id: "expires", label: "Expires", cell: ({ expires_at }) => <TimeAgo at={expires_at} /> },
  {
    id: "end",
    label: "Actions",
    cell: (session) =>
      session.current ? null : (
        <ConfirmedAction
          label="End"
          about={`session of ${session.user.email}`}
          title="End session"
          act="End session"
          onConfirm={() => end(session)}
        >
          <p>{visible(session.user.email)} will have to sign in again on this device.</p>
        </ConfirmedAction>
      ),
  },
]
