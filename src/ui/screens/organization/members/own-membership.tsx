import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import type { Role } from "../../../domain/organization.ts"
import { post } from "../../api.ts"
import { useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { Page } from "../../parts/page.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { isLastOwner, LAST_OWNER } from "./members.tsx"
import { may, type SectionProps, useMembers, useOwnSites } from "./own-organization.ts"
import { permissionsHeld, permissionWords, ROLE_WORDS, roleLabel } from "./roles.ts"

/** What the person is in the organization, what that lets them do, and the way out. */
export function OwnMembership({ organization, me }: SectionProps) {
  const sites = useOwnSites(organization.id)
  const held = permissionsHeld(organization, me.sites)
  const others = sites.filter(({ role }) => role !== organization.role)
  return (
    <Page title="Your role">
      <section class="card stack" aria-labelledby="own-role">
        <h2 id="own-role">{roleLabel(organization.role)}</h2>
        <p>
          In {visible(organization.name)} you are {organization.role === "guest" ? "a guest" : roleLabel(organization.role).toLowerCase()}:
          somebody who {ROLE_WORDS[organization.role as Role]?.says}.
        </p>
        {others.length > 0 && <p>{others.map(({ name, role }) => `${visible(name)}: ${roleLabel(role).toLowerCase()}`).join(" · ")}</p>}
        <p class="quiet">{held.length === 0 ? "You may do nothing here yet." : "By that, and by your roles on its sites, you may:"}</p>
        <ul class="permissions">
          {held.map((name) => (
            <li key={name}>{permissionWords(name)}</li>
          ))}
        </ul>
      </section>
      <Leave organization={organization} me={me} />
    </Page>
  )
}

function Leave({ organization, me }: SectionProps) {
  const isOwner = organization.role === "owner"
  // Only owners can be the last one, and owners see the members.
  const members = useMembers(organization.id, isOwner && may(organization, "members:read"))
  const own = members.data?.find(({ user }) => user.id === me.user.id)
  const isLast = isOwner && (own === undefined || isLastOwner(own, members.data ?? []))
  const [isAsking, setAsking] = useState(false)
  const refreshMe = useRefreshMe()
  const [, navigate] = useLocation()
  return (
    <section class="card stack" aria-labelledby="leave">
      <h2 id="leave">Leave</h2>
      <p class="quiet" id="leave-note">
        {isLast ? `${LAST_OWNER} Then you can leave.` : "Your access ends at once; somebody of the organization can invite you again."}
      </p>
      <div class="row">
        <Button kind="danger" disabled={isLast} aria-describedby="leave-note" onClick={() => setAsking(true)}>
          Leave {visible(organization.name)}
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title="Leave the organization"
          act="Leave"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await post("/api/private/me/leave", { organization_id: organization.id })
            await refreshMe()
            navigate("/sites")
            toast(`You have left ${visible(organization.name)}`)
          }}
        >
          <p>You lose its sites. Your private dashboards and personal API keys there end.</p>
        </Confirm>
      )}
    </section>
  )
}
