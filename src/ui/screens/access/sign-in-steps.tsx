import { useState } from "preact/hooks"
import { Link, Redirect, useSearch } from "wouter"
import type { FactorAcceptedResponse } from "../../../domain/sign-in.ts"
import { post } from "../../api/api.ts"
import { boot } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { FactorForm } from "../../sign-in/factor-form.tsx"
import { nextPage, pendingFactor, withNext } from "../../sign-in/sign-in.ts"
import { AccessPage } from "./access-page.tsx"

/** Asks for the second factor after the password was accepted. Reloading loses the ticket and leads back to the sign-in page. */
export function SecondFactor() {
  const search = useSearch()
  const [codesLeft, setCodesLeft] = useState<number>()
  const wanted = pendingFactor()
  if (!wanted) return <Redirect to={withNext("/signin", search)} replace />
  const enter = () => location.assign(nextPage(search))
  const onDone = ({ recovery_codes_left }: FactorAcceptedResponse) => {
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

/** Links an identity provider to an existing account after its owner confirmed once. The ticket is in the URL fragment. */
export function LinkIdentity() {
  const [ticket] = useState(() => {
    const given = location.hash.slice(1)
    history.replaceState(history.state, "", location.pathname)
    return given
  })
  const [password, setPassword] = useState("")
  if (ticket === "")
    return (
      <AccessPage title="Nothing to link">
        <p>This page opens after you sign in with an identity provider. Start from the sign-in page.</p>
        <p>
          <Link href="/signin">Sign in</Link>
        </p>
      </AccessPage>
    )
  const link = async () => {
    await post("/api/private/auth/oidc/link", { ticket, ...(password !== "" && { password }) }, { isSignIn: true })
    location.assign("/")
  }
  return (
    <AccessPage title="Link your account">
      <p>
        An account with the email address from your identity provider already exists here. Confirm once that it's yours, and you can sign in
        with the provider from then on.
      </p>
      <Form submit={link} label="Link your account">
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Password of your Footfall account"
              note={boot.me ? "Not needed if you're signed in to that account." : undefined}
              type="password"
              autocomplete="current-password"
              value={password}
              onValue={setPassword}
              error={errorOf("/password")}
              autofocus
            />
            <div class="row spread">
              <Button kind="primary" type="submit" busy={busy}>
                Link account
              </Button>
              <Link href="/signin">Cancel</Link>
            </div>
          </>
        )}
      </Form>
    </AccessPage>
  )
}
