import { useState } from "preact/hooks"
import { Link, Redirect, useSearch } from "wouter"
import { Button } from "../../parts/button.tsx"
import { FactorForm, type SignedIn } from "../../sign-in/factor-form.tsx"
import { AccessPage } from "./access-page.tsx"
import { nextPage, withNext } from "./next-page.ts"
import { pendingFactor } from "./pending-factor.ts"

/** After a right password. Without its ticket, which a new load of the page loses, everything begins again. */
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
    <AccessPage title="Second factor">
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
      The recovery code is used up. {left === 0 ? "None is" : left === 1 ? "One is" : `${left} are`} left; new ones are made under Account,
      Security.
    </p>
    <div class="row">
      <Button kind="primary" onClick={onGo}>
        Go on
      </Button>
    </div>
  </AccessPage>
)
