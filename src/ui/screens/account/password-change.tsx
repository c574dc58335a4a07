import { useState } from "preact/hooks"
import { Problem, post } from "../../api/api.ts"
import type { Me } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { NewPassword } from "../../parts/form/new-password.tsx"
import { toast } from "../../parts/toasts.tsx"
import { Part } from "./section.tsx"

export function PasswordChange({ me: { user } }: { me: Me }) {
  const [current, setCurrent] = useState("")
  const [password, setPassword] = useState("")
  const submit = async () => {
    // The password typed here also confirms the user's identity, so that they aren't asked for it twice.
    if (current !== "") await post("/api/private/auth/reauth", { password: current }, { isSignIn: true }).catch(sayWhich)
    await post("/api/private/me/password", { ...(current !== "" && { current }), password }).catch(sayWhich)
    setCurrent("")
    setPassword("")
    toast("Password changed. All other sessions were signed out.")
  }
  return (
    <Part title="Password">
      <Form submit={submit} label="Password">
        {({ busy, errorOf }) => (
          <>
            <input
              type="email"
              class="visually-hidden"
              autocomplete="username"
              value={user.email}
              readOnly
              tabIndex={-1}
              aria-hidden="true"
            />
            <TextField
              label="Current password"
              note="Leave empty if you don't have one."
              type="password"
              autocomplete="current-password"
              value={current}
              onValue={setCurrent}
              error={errorOf("/current")}
            />
            <NewPassword label="New password" value={password} onValue={setPassword} email={user.email} error={errorOf("/password")} />
            <div class="row">
              <Button type="submit" busy={busy} disabled={password === ""}>
                Change password
              </Button>
            </div>
          </>
        )}
      </Form>
    </Part>
  )
}

function sayWhich(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== "invalid_credentials") throw error
  const detail = "The current password is incorrect."
  throw new Problem(error.status, error.code, detail, { errors: [{ pointer: "/current", code: error.code, detail }] })
}
