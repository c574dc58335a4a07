import { useState } from "preact/hooks"
import { Button } from "../parts/button.tsx"
import { TextField } from "../parts/form/fields.tsx"
import { Form } from "../parts/form/form.tsx"

interface PasswordFormProps {
  email: string
  /** Label of the button. */
  act: string
  onPassword(password: string): Promise<void>
}

/** Asks for the password of a known email address. */
export function PasswordForm({ email, act, onPassword }: PasswordFormProps) {
  const [password, setPassword] = useState("")
  return (
    <Form submit={() => onPassword(password)} label={act}>
      {({ busy, errorOf }) => (
        <>
          <TextField label="Email" value={email} onValue={() => {}} readOnly autocomplete="username" />
          <TextField
            label="Password"
            type="password"
            value={password}
            onValue={setPassword}
            error={errorOf("/password")}
            autocomplete="current-password"
            autofocus
          />
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              {act}
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
