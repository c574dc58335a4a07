import { useState } from "preact/hooks"
import { post } from "../api/api.ts"
import { useMe } from "../api/session.ts"
import { Button } from "../parts/button.tsx"
import { sentenceOf } from "../parts/states.tsx"
import { timeText } from "../text/format.ts"

/** Renders a red frame and a bar with *Stop impersonating* while an instance admin impersonates a user. */
export default function ImpersonationBar() {
  const me = useMe()
  const [fault, setFault] = useState<string>()
  if (!me?.impersonation) return null
  const { by, mode, expires_at } = me.impersonation
  const stop = () => stopImpersonation().catch((error: Error) => setFault(sentenceOf(error)))
  return (
    <>
      <div class="impersonated" aria-hidden="true" />
      <div class="impersonation-bar" role="region" aria-label="Impersonation">
        <span>
          {by} is impersonating {me.user.email} {mode === "read_only" ? " (read-only)" : ""} until {timeText(expires_at)}. {fault}
        </span>
        <Button kind="danger" onClick={stop}>
          Stop impersonating
        </Button>
      </div>
    </>
  )
}

/** Returns to the admin's own session, even if the impersonation has expired, and reloads the page. */
export async function stopImpersonation(): Promise<void> {
  await post("/api/private/admin/impersonation/stop", undefined, { isSignIn: true })
  location.assign("/")
}
