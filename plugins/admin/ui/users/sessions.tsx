import { type Column, remove, visible } from "#plugin/ui"
import { AskedAct } from "./act.tsx"
import type { Session } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN, type useRows } from "./list.ts"
import { Moment, sentenceCase } from "./parts.tsx"
import { Rows } from "./rows.tsx"

/** Where people are signed in. */
export function SessionRows({ of, empty }: { of: ReturnType<typeof useRows<Session>>; empty: string }) {
  const refresh = useRefresh()
  const end = async ({ id }: Session) => {
    await remove(`${ADMIN}/sessions/${id}`)
    await refresh("sessions", "users")
  }
  return <Rows of={of} caption="Sessions" columns={columnsOf(end)} keyOf={({ id }) => id} empty={empty} />
}

const columnsOf = (end: (session: Session) => Promise<void>): Column<Session>[] => [
  {
    id: "user",
    label: "User",
    cell: ({ user, current, impersonation }) => (
      <>
        <span class="address">{visible(user.email)}</span> {current && <span class="badge">this one</span>}
        {impersonation && <span class="badge">looked at by {visible(impersonation.by)}</span>}
      </>
    ),
  },
  { id: "device", label: "Device", cell: ({ device }) => <span class="whole">{visible(device)}</span> },
  { id: "place", label: "Place", cell: ({ place, ip_prefix }) => visible([place, ip_prefix].filter(Boolean).join(", ")) },
  {
    id: "method",
    label: "By",
    cell: ({ method, mfa }) => (
      <>
        <span class="whole">{sentenceCase(method)}</span>
        {mfa && <span class="whole"> and second factor</span>}
      </>
    ),
  },
  { id: "seen", label: "Last seen", cell: ({ last_seen_at }) => <Moment at={last_seen_at} /> },
  { id: "ends", label: "Ends", cell: ({ expires_at }) => <Moment at={expires_at} /> },
  {
    id: "end",
    label: "End it",
    cell: (session) =>
      session.current ? null : (
        <AskedAct
          label="End"
          about={`session of ${session.user.email}`}
          title="End this session"
          act="End session"
          onConfirm={() => end(session)}
        >
          <p>{visible(session.user.email)} has to sign in again there.</p>
        </AskedAct>
      ),
  },
]
