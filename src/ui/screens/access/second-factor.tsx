import { useState } from "preact/hooks"
import { Link, Redirect, useSearch } from "wouter"
import { Button } from "../../parts/button.tsx"
import { FactorForm, type SignedIn } from "../../sign-in/factor-form.tsx"
import { AccessPage } from "./access-page.tsx"
import { nextPage, withNext } from "./next-page.ts"
import { pendingFactor } from "./pending-factor.ts"

/** Asks for the second factor after the password was accepted. Reloading loses the ticket and leads back to the sign-in page. */
export default function SecondFactor() {
  const search = useSearch()
  const [codesLeft, setCodesLeft] = useState<number>()
  const wanted = pendingFactor()
  if (!wanted) return <Redirect to={withNext("/signin", search)} replace />
  const enter = () => location.assign(nextPage(search))
  const onDone = ({ recovery_codes_left }: SignedIn) => {
    if (recovery_codes_left === undefined) enter()
    else setCodesLeft(recovery_codes_left)
  }
  if (codesLeft !== undefined) return <CodeUsed left={codesLeft} onGo={enter} />
  return (
    <AccessPage title="Two-step verification">
      <FactorForm wanted={wanted} onDone={onDone} />
      <p>
        <Link href={withNext("/signin", search)}>Back to sign in</Link>
      </p>
    </AccessPage>
  )
}

const CodeUsed = ({ left, onGo }: { left: number; onGo(): void }) => (
  <AccessPage title="Signed in">
    <p role="status">
      That recovery code can't be used again. {left === 0 ? "You have none" : left === 1 ? "You have one" : `You have ${left}`} left.
      Generate new codes under Account → Security.
    </p>
    <div class="row">
      <Button kind="primary" onClick={onGo}>
        Continue
      </Button>
    </div>
  </AccessPage>
)
