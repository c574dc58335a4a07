import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import type { Role } from "../../../../domain/organization.ts"
import { post } from "../../../api/api.ts"
import { useRefreshMe } from "../../../api/session.ts"
import { Button } from "../../../parts/button.tsx"
import { Confirm } from "../../../parts/confirm.tsx"
import { Page } from "../../../parts/page.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { can, type SectionProps, useMembers, useOwnSites } from "../own-organization.ts"
import { isLastOwner } from "./members.tsx"
import { permissionsHeld, permissionText, ROLE_LABELS, roleLabel } from "./roles.ts"

/** Shows the user's role and permissions in the organization and lets them leave it. */
export function OwnMembership({ organization, me }: SectionProps) {
  const sites = useOwnSites(organization.id)
  const held = permissionsHeld(organization, me.sites)
  const others = sites.filter(({ role }) => role !== organization.role)
  return (
    <Page title="Your role">
      <section class="card stack" aria-labelledby="own-role">
        <h2 id="own-role">{roleLabel(organization.role)}</h2>
        <p>
          Your role in {visible(organization.name)}: {ROLE_LABELS[organization.role as Role]?.description}.
        </p>
        {others.length > 0 && <p>{others.map(({ name, role }) => `${visible(name)}: ${roleLabel(role).toLowerCase()}`).join(" · ")}</p>}
        <p class="quiet">
          {held.length === 0 ? "You don't have any permissions here yet." : "With this role and your site-specific roles you can:"}
        </p>
        <ul class="permissions">
          {held.map((name) => (
            <li key={name}>{permissionText(name)}</li>
          ))}
        </ul>
      </section>
      <Leave organization={organization} me={me} />
    </Page>
  )
}

function Leave({ organization, me }: SectionProps) {
  const isOwner = organization.role === "owner"
  // Only an owner can be the last owner, and owners can see the members.
  const members = useMembers(organization.id, isOwner && can(organization, "members:read"))
  const own = members.data?.find(({ user }) => user.id === me.user.id)
  const isLast = isOwner && (own === undefined || isLastOwner(own, members.data ?? []))
  const [isAsking, setAsking] = useState(false)
  const refreshMe = useRefreshMe()
  const [, navigate] = useLocation()
  return (
    <section class="card stack" aria-labelledby="leave">
      <h2 id="leave">Leave organization</h2>
      <p class="quiet" id="leave-note">
        {isLast
          ? `The last owner can't leave the organization. Make another member an owner first.`
          : "You lose access immediately. You need a new invitation to rejoin."}
      </p>
      <div class="row">
        <Button kind="danger" disabled={isLast} aria-describedby="leave-note" onClick={() => setAsking(true)}>
          Leave {visible(organization.name)}
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title="Leave this organization?"
          act="Leave organization"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await post("/api/private/me/leave", { organization_id: organization.id })
            await refreshMe()
            navigate("/sites")
            toast(`You left ${visible(organization.name)}`)
          }}
        >
          <p>You lose access to its sites. Your personal API keys there are revoked.</p>
        </Confirm>
      )}
    </section>
  )
}
