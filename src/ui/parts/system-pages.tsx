import { useEffect } from "preact/hooks"
import { Button, ButtonLink } from "../parts/button.tsx"
import { SystemPage } from "../parts/states.tsx"

/** The same for what does not exist and for what one cannot see. */
export function NotFound() {
  useEffect(() => {
    document.title = "Not found · Footfall"
  }, [])
  return (
    <SystemPage title="Nothing is here">
      <p>The page does not exist, or you cannot see it.</p>
      <p>
        <ButtonLink href="/sites">All sites</ButtonLink>
      </p>
    </SystemPage>
  )
}

/** Which permission is missing, and who can give it. */
export const Forbidden = ({ permission, giver }: { permission: string; giver: string }) => (
  <SystemPage title="This is not open to you">
    <p>
      This needs the permission to {permission}. {giver} can grant it.
    </p>
    <p>
      <ButtonLink href="/sites">All sites</ButtonLink>
    </p>
  </SystemPage>
)

/** A file of the page is gone: the server runs a newer build, or is not there. */
export const NewVersion = () => (
  <SystemPage title="This page must be loaded again">
    <p>A newer version of Footfall is running, or the server cannot be reached just now.</p>
    <p>
      <Button kind="primary" onClick={() => location.reload()}>
        Reload
      </Button>
    </p>
  </SystemPage>
)
