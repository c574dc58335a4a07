import { useState } from "preact/hooks"
import { Redirect, useLocation, useParams } from "wouter"
import { post } from "../../api/api.ts"
import { boot } from "../../api/session.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Form } from "../../parts/form/form.tsx"
import { AccessPage } from "./access-page.tsx"

/** Confirms a new email address by the link sent to it. Only the account that requested the change can use the link, so a session is required. */
export function ConfirmEmail() {
  const { token = "" } = useParams<{ token: string }>()
  const [path] = useLocation()
  const [isDone, setDone] = useState(false)
  if (!boot.me) return <Redirect to={`/signin?next=${encodeURIComponent(path)}`} replace />
  if (isDone)
    return (
      <AccessPage title="Email address confirmed">
        <p role="status">Use this address to sign in from now on.</p>
        <p>
          <ButtonLink href="/account/profile">Go to your account</ButtonLink>
        </p>
      </AccessPage>
    )
  return (
    <AccessPage title="Confirm your email address">
      <p>You're signed in as {boot.me.user.name}. The address this link was sent to becomes the email address of this account.</p>
      <Form
        submit={async () => {
          await post("/api/private/me/email/confirm", { token })
          setDone(true)
        }}
      >
        {({ busy }) => (
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Confirm email address
            </Button>
          </div>
        )}
      </Form>
    </AccessPage>
  )
}

/** Undoes an email change by the link in the warning sent to the previous address. */
export function UndoEmail() {
  const { token = "" } = useParams<{ token: string }>()
  const [isDone, setDone] = useState(false)
  if (isDone)
    return (
      <AccessPage title="Email change undone">
        <p role="status">
          The account has its previous email address again, and all sessions were signed out. If you didn't request the change, choose a new
          password now: someone else may know the current one.
        </p>
        <div class="row">
          <a class="button" href="/signin">
            Sign in
          </a>
          <a class="button" href="/forgot">
            Choose a new password
          </a>
        </div>
      </AccessPage>
    )
  return (
    <AccessPage title="Undo the email change">
      <p>The account keeps, or gets back, the email address this link was sent to. All its sessions will be signed out.</p>
      <Form
        submit={async () => {
          await post("/api/private/auth/email/undo", { token }, { isSignIn: true })
          setDone(true)
        }}
      >
        {({ busy }) => (
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Undo change
            </Button>
          </div>
        )}
      </Form>
    </AccessPage>
  )
}
