import { useState } from "preact/hooks"
import { useParams } from "wouter"
import { post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { Form } from "../../parts/form/form.tsx"
import { AccessPage } from "./access-page.tsx"

/** Undoes an email change by the link in the warning sent to the previous address. */
export default function UndoEmail() {
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
