import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { InvitationResponse } from "../../../../domain/invitation.ts"
import { getAll, post, remove } from "../../../api/api.ts"
import { Button } from "../../../parts/button.tsx"
import { Confirm } from "../../../parts/confirm.tsx"
import { OneTimeSecret } from "../../../parts/copy.tsx"
import { type Column, DataTable } from "../../../parts/data-table.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { SelectField, TextField } from "../../../parts/form/fields.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { Page } from "../../../parts/page.tsx"
import { EmptyState, errorText, QueryResult } from "../../../parts/states.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { agoText } from "../../../parts/values.tsx"
import { timeText } from "../../../text/format.ts"
import { visible } from "../../../text/safe-text.tsx"
import {
  can,
  type OwnOrganization,
  type OwnSite,
  organizationPath,
  type SectionProps,
  useOwnSites,
  useRefresh,
} from "../own-organization.ts"
import { SiteChoices } from "../site-choices.tsx"
import { ROLE_LABELS, roleLabel, rolesBelow } from "./roles.ts"

export function Invitations({ organization }: SectionProps) {
  const path = `${organizationPath(organization.id)}/invitations`
  const list = useQuery({
    queryKey: ["invitations", organization.id],
    queryFn: ({ signal }) => getAll<InvitationResponse>(`${path}?`, signal),
  })
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [created, setCreated] = useState<InvitationResponse>()
  const [revoked, setRevoked] = useState<InvitationResponse>()
  const writes = can(organization, "members:write")
  const done = async (invitation: InvitationResponse) => {
    await refresh("invitations")
    if (invitation.link) setCreated(invitation)
    else toast(`Invitation sent to ${visible(invitation.email)}`)
  }
  const resend = async ({ id }: InvitationResponse) => {
    try {
      await done(await post<InvitationResponse>(`${path}/${id}/resend`, {}))
    } catch (error) {
      toast(`The invitation couldn't be resent. ${errorText(error as Error)}`)
    }
  }
  const columns = [...columnsOf(sites), ...(writes ? [actionsColumn({ onResend: (row) => void resend(row), onRevoke: setRevoked })] : [])]
  return (
    <Page title="Invitations">
      {writes && <InviteForm organization={organization} onInvited={done} />}
      <section class="card stack" aria-labelledby="invitations">
        <h2 id="invitations">Pending invitations</h2>
        <QueryResult of={list} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>No pending invitations. People who accept an invitation appear under Members.</EmptyState>
            ) : (
              <DataTable stacks caption="Invitations" rows={rows} keyOf={({ id }) => id} columns={columns} />
            )
          }
        </QueryResult>
      </section>
      {created?.link && (
        <Dialog title="Share the invitation link" onClose={() => setCreated(undefined)}>
          <div class="stack">
            <p>
              This instance can't send email, so give this link to {visible(created.email)}. It won't be shown again and is valid until{" "}
              {timeText(created.expires_at)}.
            </p>
            <OneTimeSecret label="Invitation link" secret={created.link} note="Anyone with this link can accept the invitation." />
            <div class="dialog-foot">
              <Button kind="primary" onClick={() => setCreated(undefined)}>
                I've copied the link
              </Button>
            </div>
          </div>
        </Dialog>
      )}
      {revoked && (
        <Confirm
          title="Withdraw invitation?"
          act="Withdraw invitation"
          onClose={() => setRevoked(undefined)}
          onConfirm={async () => {
            await remove(`${path}/${revoked.id}`)
            await refresh("invitations")
            toast("Invitation withdrawn")
          }}
        >
          <p>The link sent to {visible(revoked.email)} stops working.</p>
        </Confirm>
      )}
    </Page>
  )
}

const columnsOf = (sites: readonly OwnSite[]): Column<InvitationResponse>[] => [
  { id: "email", label: "Email", cell: ({ email }) => visible(email) },
  {
    id: "role",
    label: "Role",
    cell: ({ role, site_ids, site_role }) => (
      <>
        <div>{site_role && site_role !== "viewer" ? `${roleLabel(role)}, ${roleLabel(site_role).toLowerCase()}` : roleLabel(role)}</div>
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
    cell: ({ sent_at, created_at }) => `${sent_at ? "by email" : "as a link"}, ${agoText(sent_at ?? created_at)}`,
  },
  {
    id: "state",
    label: "Expires",
    cell: ({ state, expires_at }) => (state === "expired" ? "Expired" : <time dateTime={expires_at}>{timeText(expires_at)}</time>),
  },
]

const actionsColumn = (actions: {
  onResend(row: InvitationResponse): void
  onRevoke(row: InvitationResponse): void
}): Column<InvitationResponse> => ({
  id: "acts",
  label: "Actions",
  cell: (row) => (
    <div class="acts">
      <Button aria-label={`Resend the invitation to ${visible(row.email)}`} onClick={() => actions.onResend(row)}>
        Resend
      </Button>
      <Button kind="danger" aria-label={`Withdraw the invitation to ${visible(row.email)}`} onClick={() => actions.onRevoke(row)}>
        Withdraw
      </Button>
    </div>
  ),
})

interface InviteFormProps {
  organization: OwnOrganization
  onInvited(invitation: InvitationResponse): Promise<unknown>
}

/** Invites a person by email, or by a link to share if the instance can't send email. */
function InviteForm({ organization, onInvited }: InviteFormProps) {
  const sites = useOwnSites(organization.id)
  const [email, setEmail] = useState("")
  const [role, setRole] = useState("viewer")
  const [chosen, setChosen] = useState<readonly number[]>([])
  const isGuest = role === "guest"
  return (
    <section class="card stack" aria-labelledby="invite">
      <h2 id="invite">Invite a member</h2>
      <Form
        label="Invite a member"
        submit={async () => {
          const invitation = await post<InvitationResponse>(`${organizationPath(organization.id)}/members/invite`, {
            email,
            role,
            ...(isGuest && { site_ids: chosen }),
          })
          setEmail("")
          setChosen([])
          await onInvited(invitation)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Email"
              type="email"
              autocomplete="off"
              value={email}
              onValue={setEmail}
              error={errorOf("/email")}
              note="Only this address can accept the invitation, within seven days."
            />
            <SelectField
              label="Role"
              value={role}
              onValue={setRole}
              options={rolesBelow(organization.role).map((one) => ({
                value: one,
                label: `${ROLE_LABELS[one].label}: ${ROLE_LABELS[one].description}`,
              }))}
              error={errorOf("/role")}
            />
            {isGuest && (
              <SiteChoices
                legend="Sites the guest can see"
                sites={sites}
                chosen={chosen}
                onChosen={setChosen}
                error={errorOf("/site_ids")}
              />
            )}
            <div class="row">
              <Button kind="primary" type="submit" busy={busy}>
                Send invitation
              </Button>
            </div>
          </>
        )}
      </Form>
    </section>
  )
}
