import { ButtonLink } from "./button.tsx"
import { SystemPage } from "./states.tsx"

/** The 403 page. It names the missing permission and who can grant it: by default those who manage the organization. */
export const Forbidden = ({ permission, giver = "An owner or admin of the organization" }: { permission: string; giver?: string }) => (
  <SystemPage title="You don't have access to this page">
    <p>
      You need the permission to {permission}. {giver} can grant it.
    </p>
    <p>
      <ButtonLink href="/sites">All sites</ButtonLink>
    </p>
  </SystemPage>
)
