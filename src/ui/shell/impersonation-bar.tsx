import { useState } from "preact/hooks"
import { post } from "../api.ts"
import { timeText } from "../format.ts"
import { useMe } from "../me.ts"
import { Button } from "../parts/button.tsx"
import { sentenceOf } from "../parts/states.tsx"

/** A red frame around everything while an instance admin looks at it as somebody else, and the way back. */
export default function ImpersonationBar() {
  const me = useMe()
  const [fault, setFault] = useState<string>()
  if (!me?.impersonation) return null
  const { by, mode, expires_at } = me.impersonation
  const stop = () => stopImpersonation().catch((error: Error) => setFault(sentenceOf(error)))
  return (
    <>
      <div class="impersonated" aria-hidden="true" />
      <div class="impersonation-bar" role="region" aria-label="Looking as somebody else">
        <span>
          {by} looks as {me.user.email}
          {mode === "read_only" ? ", without changing anything" : ""}, until {timeText(expires_at)}. {fault}
        </span>
        <Button kind="danger" onClick={stop}>
          Stop
        </Button>
      </div>
    </>
  )
}

/** Back to the own session, also when the other one has run out; the page is loaded anew. */
export async function stopImpersonation(): Promise<void> {
  await post("/api/private/admin/impersonation/stop", undefined, { isSignIn: true })
  location.assign("/")
}
