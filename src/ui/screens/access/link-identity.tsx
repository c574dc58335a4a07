import { useState } from "preact/hooks"
import { Link } from "wouter"
import { post } from "../../api.ts"
import { boot } from "../../boot.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { AccessPage } from "./access-page.tsx"

/** The first sign-in by a provider at an account that exists: its owner confirms once. The ticket stands behind the #. */
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
        <p>This page is reached from an identity provider.</p>
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
        Your identity provider knows the e-mail address of an account here. Confirm once that the account is yours; from then on the
        provider signs you in.
      </p>
      <Form submit={link} label="Link your account">
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Password of the account here"
              note={boot.me ? "Not needed if it is the account you are signed in with." : undefined}
              type="password"
              autocomplete="current-password"
              value={password}
              onValue={setPassword}
              error={errorOf("/password")}
              autofocus
            />
            <div class="row spread">
              <Button kind="primary" type="submit" busy={busy}>
                Link
              </Button>
              <Link href="/signin">Cancel</Link>
            </div>
          </>
        )}
      </Form>
    </AccessPage>
  )
}
