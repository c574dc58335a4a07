import { useState } from "preact/hooks"
import { Link } from "wouter"
import { post } from "../../api/api.ts"
import { boot } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { AccessPage } from "./access-page.tsx"

/** Links an identity provider to an existing account after its owner confirmed once. The ticket is in the URL fragment. */
export default function LinkIdentity() {
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
