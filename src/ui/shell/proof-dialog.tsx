import { useEffect } from "preact/hooks"
import { useMe } from "../me.ts"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { type Asked, asked } from "../proof.ts"
import { stopImpersonation } from "./impersonation-bar.tsx"
import { ProofAgain } from "./proof-again.tsx"
import { SignInAgain, SignInByProvider } from "./sign-in-again.tsx"

const TITLES: Readonly<Record<Asked["reason"], string>> = {
  "signed-out": "Sign in again",
  proof: "Confirm that it is you",
  provider: "Sign in through the identity provider",
}

/** Over the page, which keeps all that was typed: why somebody is asked who they are, and how they can say it. */
export function ProofDialog() {
  const question = asked.use()
  if (!question) return null
  return (
    <Dialog title={TITLES[question.reason]} onClose={question.cancel} small>
      <Question question={question} />
    </Dialog>
  )
}

function Question({ question: { reason, done, cancel } }: { question: Asked }) {
  const me = useMe()
  // A page of nobody has nobody to ask.
  useEffect(() => {
    if (!me) cancel()
  }, [me])
  if (!me) return null
  if (reason === "proof")
    return (
      <div class="stack">
        <p class="quiet">This act needs a fresh proof; it holds for ten minutes.</p>
        <ProofAgain me={me} onDone={done} />
      </div>
    )
  if (reason === "provider")
    return (
      <div class="stack">
        <p class="quiet">Your organization wants it so. Nothing you typed is lost.</p>
        <SignInByProvider me={me} onDone={done} />
      </div>
    )
  return (
    <div class="stack">
      <p class="quiet">Your session has ended. Nothing you typed is lost.</p>
      {me.impersonation ? <LookingEnded /> : <SignInAgain me={me} onDone={done} />}
    </div>
  )
}

/** What has ended is the session of somebody else; the admin's own one waits. */
const LookingEnded = () => (
  <Button kind="primary" onClick={() => void stopImpersonation()}>
    Back to your own session
  </Button>
)
