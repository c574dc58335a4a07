import { useState } from "preact/hooks"
import { useParams } from "wouter"
import { post } from "../../api.ts"
import { Button } from "../../parts/button.tsx"
import { Form } from "../../parts/form.tsx"
import { AccessPage } from "./access-page.tsx"

/** The link of the warning that went to the old address. */
export default function UndoEmail() {
  const { token = "" } = useParams<{ token: string }>()
  const [isDone, setDone] = useState(false)
  if (isDone)
    return (
      <AccessPage title="The change is taken back">
        <p role="status">
          The account has its address again, and everybody was signed out. If the change was not yours, choose another password now:
          somebody knows the present one.
        </p>
        <div class="row">
          <a class="button" href="/signin">
            Sign in
          </a>
          <a class="button" href="/forgot">
            Choose another password
          </a>
        </div>
      </AccessPage>
    )
  return (
    <AccessPage title="Take the change back">
      <p>The account keeps, or gets back, the address that this link was sent to. Everybody who is signed in with it is signed out.</p>
      <Form
        submit={async () => {
          await post("/api/private/auth/email/undo", { token }, { isSignIn: true })
          setDone(true)
        }}
      >
        {({ busy }) => (
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Take it back
            </Button>
          </div>
        )}
      </Form>
    </AccessPage>
  )
}
