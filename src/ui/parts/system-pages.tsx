import { useEffect } from "preact/hooks"
import { Button, ButtonLink } from "./button.tsx"
import { SystemPage } from "./states.tsx"

/** The 404 page. It is the same for pages that do not exist and pages that the user cannot see. */
export function NotFound() {
  useEffect(() => {
    document.title = "Not found · Footfall"
  }, [])
  return (
    <SystemPage title="Page not found">
      <p>It doesn't exist, or you don't have access.</p>
      <p>
        <ButtonLink href="/sites">All sites</ButtonLink>
      </p>
    </SystemPage>
  )
}

/** The 403 page. It names the missing permission and who can grant it. */
export const Forbidden = ({ permission, giver }: { permission: string; giver: string }) => (
  <SystemPage title="You don't have access to this page">
    <p>
      You need the permission to {permission}. {giver} can grant it.
    </p>
    <p>
      <ButtonLink href="/sites">All sites</ButtonLink>
    </p>
  </SystemPage>
)

/** Shown when a script of the page can't be loaded: the server runs a newer build or can't be reached. */
export const NewVersion = () => (
  <SystemPage title="Reload this page">
    <p>A newer version of Footfall is running, or the server can't be reached.</p>
    <p>
      <Button kind="primary" onClick={() => location.reload()}>
        Reload page
      </Button>
    </p>
  </SystemPage>
)
