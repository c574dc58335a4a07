import { useEffect } from "preact/hooks"
import { type Asked, asked } from "../api/api.ts"
import { useMe } from "../api/session.ts"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { stopImpersonation } from "./impersonation-bar.tsx"
import { ProofAgain } from "./proof-again.tsx"
import { SignInAgain, SignInByProvider } from "./sign-in-again.tsx"

const TITLES: Readonly<Record<Asked["reason"], string>> = {
  "signed-out": "Sign in again",
  proof: "Confirm it's you",
  provider: "Sign in with your identity provider",
}

/** Asks the user to sign in again or to confirm their identity, in a dialog over the page so that its input is kept. */
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
  // Without a signed-in user there is no one to ask.
  useEffect(() => {
    if (!me) cancel()
  }, [me])
  if (!me) return null
  if (reason === "proof")
    return (
      <div class="stack">
        <p class="quiet">This is a sensitive action. Your confirmation stays valid for ten minutes.</p>
        <ProofAgain me={me} onDone={done} />
      </div>
    )
  if (reason === "provider")
    return (
      <div class="stack">
        <p class="quiet">Your organization requires single sign-on. Your input is kept.</p>
        <SignInByProvider me={me} onDone={done} />
      </div>
    )
  return (
    <div class="stack">
      <p class="quiet">You've been signed out. Sign in again to continue; your input is kept.</p>
      {me.impersonation ? <ImpersonationEnded /> : <SignInAgain me={me} onDone={done} />}
    </div>
  )
}

/** Offers the way back to the admin's own session after the impersonated one has ended. */
const ImpersonationEnded = () => (
  <Button kind="primary" onClick={() => void stopImpersonation()}>
    Return to your own session
  </Button>
)
