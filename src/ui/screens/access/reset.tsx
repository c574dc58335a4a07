import { useState } from "preact/hooks"
import { Link, useParams } from "wouter"
import { Problem, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { Form } from "../../parts/form/form.tsx"
import { NewPassword } from "../../parts/form/new-password.tsx"
import { AccessPage } from "./access-page.tsx"

/** Sets a new password by the link from a password reset email. */
export default function Reset() {
  const { token = "" } = useParams<{ token: string }>()
  const [password, setPassword] = useState("")
  const [isInvalid, setInvalid] = useState(false)
  const reset = async () => {
    try {
      await post("/api/private/auth/reset", { token, password }, { isSignIn: true })
      location.assign("/signin?changed=true")
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "token_invalid") throw error
      setInvalid(true)
    }
  }
  if (isInvalid)
    return (
      <AccessPage title="This link is no longer valid">
        <p role="alert">It may have expired, been used or been replaced by a newer one. Links work once and for one hour.</p>
        <p>
          <Link href="/forgot">Request a new link</Link>
        </p>
      </AccessPage>
    )
  return (
    <AccessPage title="Choose a new password">
      <Form submit={reset} label="Choose a new password">
        {({ busy, errorOf }) => (
          <>
            <NewPassword label="New password" value={password} onValue={setPassword} error={errorOf("/password")} />
            <p class="small quiet">All sessions of this account will be signed out. Your second factor stays active.</p>
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
