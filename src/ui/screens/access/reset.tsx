import { useState } from "preact/hooks"
import { Link, useParams } from "wouter"
import { Problem, post } from "../../api.ts"
import { Button } from "../../parts/button.tsx"
import { Form } from "../../parts/form.tsx"
import { NewPassword } from "../../parts/new-password.tsx"
import { AccessPage } from "./access-page.tsx"

/** A new password by the link of a mail. */
export default function Reset() {
  const { token = "" } = useParams<{ token: string }>()
  const [password, setPassword] = useState("")
  const [isOver, setOver] = useState(false)
  const reset = async () => {
    try {
      await post("/api/private/auth/reset", { token, password }, { isSignIn: true })
      location.assign("/signin?changed=true")
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "token_invalid") throw error
      setOver(true)
    }
  }
  if (isOver)
    return (
      <AccessPage title="The link is no longer good">
        <p role="alert">It is unknown, was used, or is older than an hour. A newer link makes older ones void.</p>
        <p>
          <Link href="/forgot">Ask for a new one</Link>
        </p>
      </AccessPage>
    )
  return (
    <AccessPage title="Choose a new password">
      <Form submit={reset} label="Choose a new password">
        {({ busy, errorOf }) => (
          <>
            <NewPassword label="New password" value={password} onValue={setPassword} error={errorOf("/password")} />
            <p class="small quiet">Everybody who is signed in with this account is signed out. A second factor stays.</p>
            <div class="row">
              <Button kind="primary" type="submit" busy={busy}>
                Change password
              </Button>
            </div>
          </>
        )}
      </Form>
    </AccessPage>
  )
}
