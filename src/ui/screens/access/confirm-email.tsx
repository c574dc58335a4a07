import { useState } from "preact/hooks"
import { Redirect, useLocation, useParams } from "wouter"
import { post } from "../../api.ts"
import { boot } from "../../boot.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Form } from "../../parts/form.tsx"
import { AccessPage } from "./access-page.tsx"

/** The link that went to a new address. It is good only for whoever asked for it, so it wants a session. */
export default function ConfirmEmail() {
  const { token = "" } = useParams<{ token: string }>()
  const [path] = useLocation()
  const [isDone, setDone] = useState(false)
  if (!boot.me) return <Redirect to={`/signin?next=${encodeURIComponent(path)}`} replace />
  if (isDone)
    return (
      <AccessPage title="The address is confirmed">
        <p role="status">From now on you sign in with it.</p>
        <p>
          <ButtonLink href="/account/profile">Account</ButtonLink>
        </p>
      </AccessPage>
    )
  return (
    <AccessPage title="Confirm your e-mail address">
      <p>You are signed in as {boot.me.user.name}. The address that this link was sent to becomes the address of this account.</p>
      <Form
        submit={async () => {
          await post("/api/private/me/email/confirm", { token })
          setDone(true)
        }}
      >
        {({ busy }) => (
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Confirm
            </Button>
          </div>
        )}
      </Form>
    </AccessPage>
  )
}
