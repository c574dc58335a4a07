import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { agoText } from "../../ago.ts"
import { post, remove } from "../../api.ts"
import { timeText } from "../../format.ts"
import { Answer } from "../../parts/answer.tsx"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState, sentenceOf } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { getAll } from "../../stats/get-all.ts"
import { toast } from "../../toasts.ts"
import { InviteForm } from "./invite-form.tsx"
import { may, type OwnSite, organizationPath, type SectionProps, useOwnSites, useRefresh } from "./own-organization.ts"
import { roleLabel } from "./roles.ts"
import { ShownOnce } from "./shown-once.tsx"

/** A row of `GET …/invitations`; `link` only right after it was made, where no mail is sent. */
export interface Invitation {
  id: number
  email: string
  role: string
  site_ids: number[]
  created_at: string
  expires_at: string
  sent_at: string | null
  state: "open" | "expired"
  link?: string
}

export function Invitations({ organization }: SectionProps) {
  const path = `${organizationPath(organization.id)}/invitations`
  const list = useQuery({
    queryKey: ["invitations", organization.id],
    queryFn: ({ signal }) => getAll<Invitation>(`${path}?`, signal),
  })
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [made, setMade] = useState<Invitation>()
  const [revoked, setRevoked] = useState<Invitation>()
  const writes = may(organization, "members:write")
  const done = async (invitation: Invitation) => {
    await refresh("invitations")
    if (invitation.link) setMade(invitation)
    else toast(`An invitation was mailed to ${visible(invitation.email)}`)
  }
  const resend = async ({ id }: Invitation) => {
    try {
      await done(await post<Invitation>(`${path}/${id}/resend`, {}))
    } catch (error) {
      toast(`The invitation was not sent again. ${sentenceOf(error as Error)}`)
    }
  }
  const columns = [...columnsOf(sites), ...(writes ? [actsColumn({ onResend: (row) => void resend(row), onRevoke: setRevoked })] : [])]
  return (
    <Page title="Invitations">
      {writes && <InviteForm organization={organization} onInvited={done} />}
      <section class="stack" aria-labelledby="invitations">
        <h2 id="invitations">Not accepted yet</h2>
        <Answer of={list} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>No invitation is open. Whoever accepts one stands among the members.</EmptyState>
            ) : (
              <DataTable caption="Invitations" rows={rows} keyOf={({ id }) => id} columns={columns} />
            )
          }
        </Answer>
      </section>
      {made?.link && (
        <Dialog title="Hand this link on" onClose={() => setMade(undefined)}>
          <div class="stack">
            <p>
              This instance sends no mail. Give the link to {visible(made.email)}; it is shown this once and works until{" "}
              {timeText(made.expires_at)}.
            </p>
            <ShownOnce label="Link of the invitation" secret={made.link} note="Whoever has it can join in the place of the invited." />
            <div class="dialog-foot">
              <Button kind="primary" onClick={() => setMade(undefined)}>
                I have it
              </Button>
            </div>
          </div>
        </Dialog>
      )}
      {revoked && (
        <Confirm
          title="Withdraw the invitation"
          act="Withdraw"
          onClose={() => setRevoked(undefined)}
          onConfirm={async () => {
            await remove(`${path}/${revoked.id}`)
            await refresh("invitations")
            toast("The invitation was withdrawn")
          }}
        >
          <p>The link that {visible(revoked.email)} has stops working.</p>
        </Confirm>
      )}
    </Page>
  )
}

const columnsOf = (sites: readonly OwnSite[]): Column<Invitation>[] => [
  { id: "email", label: "E-mail", cell: ({ email }) => visible(email) },
  {
    id: "role",
    label: "Role",
    cell: ({ role, site_ids }) => (
      <>
        <div>{roleLabel(role)}</div>
        {site_ids.length > 0 && (
          <div class="small quiet">
            {site_ids.map((id) => visible(sites.find((site) => site.id === id)?.name ?? `site ${id}`)).join(", ")}
          </div>
        )}
      </>
    ),
  },
  {
    id: "sent",
    label: "Sent",
    cell: ({ sent_at, created_at }) => `${sent_at ? "by mail" : "as a link"}, ${agoText(sent_at ?? created_at)}`,
  },
  {
    id: "state",
    label: "Ends",
    cell: ({ state, expires_at }) => (state === "expired" ? "has ended" : <time dateTime={expires_at}>{timeText(expires_at)}</time>),
  },
]

const actsColumn = (acts: { onResend(row: Invitation): void; onRevoke(row: Invitation): void }): Column<Invitation> => ({
  id: "acts",
  label: "Acts",
  cell: (row) => (
    <div class="acts">
      <Button aria-label={`Send again: invitation of ${visible(row.email)}`} onClick={() => acts.onResend(row)}>
        Send again
      </Button>
      <Button kind="danger" aria-label={`Withdraw the invitation of ${visible(row.email)}`} onClick={() => acts.onRevoke(row)}>
        Withdraw
      </Button>
    </div>
  ),
})
