import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { OwnSessionResponse } from "../../../domain/account.ts"
import type { PrivatePage } from "../../../domain/response.ts"
import { get, post, remove } from "../../api/api.ts"
import type { Me } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { QueryResult } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { TimeAgo } from "../../parts/values.tsx"
import { timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { Part } from "./section.tsx"

const KEY = ["own-sessions"]
const METHODS: Readonly<Record<string, string>> = {
  password: "password",
  passkey: "passkey",
  oidc: "identity provider",
  setup: "setup",
  invitation: "invitation",
}

/** Lists the user's sessions and ends them. */
export function SessionList(_: { me: Me }) {
  const client = useQueryClient()
  const list = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => get<PrivatePage<OwnSessionResponse>>("/api/private/me/sessions", signal),
  })
  const [ending, setEnding] = useState<"others" | OwnSessionResponse>()
  const refresh = () => client.invalidateQueries({ queryKey: KEY })
  return (
    <Part title="Sessions">
      <p class="quiet">Sessions expire after seven days of inactivity. Don't recognize one? End it and change your password.</p>
      <QueryResult of={list} rows={3}>
        {({ data }) => (
          <div class="stack">
            <DataTable stacks caption="Where you are signed in" columns={columnsOf(setEnding)} rows={data} keyOf={({ id }) => id} />
            {data.length > 1 && (
              <div class="row">
                <Button kind="danger" onClick={() => setEnding("others")}>
                  End other sessions
                </Button>
              </div>
            )}
          </div>
        )}
      </QueryResult>
      {ending && (
        <Confirm
          title={ending === "others" ? "End all other sessions?" : "End this session?"}
          act={ending === "others" ? "End other sessions" : "End session"}
          onClose={() => setEnding(undefined)}
          onConfirm={async () => {
            if (ending === "others") await post("/api/private/me/sessions/revoke-others", undefined)
            else await remove(`/api/private/me/sessions/${ending.id}`)
            await refresh()
            toast(ending === "others" ? "All other sessions ended" : "Session ended")
          }}
        >
          <p>{ending === "others" ? "You stay signed in on this device only." : `${visible(ending.device)} will have to sign in again.`}</p>
        </Confirm>
      )}
    </Part>
  )
}

const columnsOf = (onEnd: (session: OwnSessionResponse) => void): Column<OwnSessionResponse>[] => [
  {
    id: "device",
    label: "Device and location",
    cell: ({ device, current, place, ip_prefix }) => (
      <>
        <span class="whole">{visible(device)}</span> {current && <span class="badge">this device</span>}
        <br />
        <span class="small quiet whole">{visible([place, ip_prefix].filter(Boolean).join(", ") || "unknown location")}</span>
      </>
    ),
  },
  { id: "seen", label: "Last seen", cell: ({ last_seen_at, current }) => (current ? "now" : <TimeAgo at={last_seen_at} />) },
  {
    id: "since",
    label: "Signed in",
    cell: ({ created_at, method }) => (
      <>
        <time dateTime={created_at}>{timeText(created_at)}</time>
        <br />
        <span class="small quiet whole">with {METHODS[method] ?? method}</span>
      </>
    ),
  },
  {
    id: "end",
    label: "Actions",
    cell: (session) =>
      session.current ? null : (
        <Button kind="danger" aria-label={`End the session of ${session.device}`} onClick={() => onEnd(session)}>
          End session
        </Button>
      ),
  },
]
