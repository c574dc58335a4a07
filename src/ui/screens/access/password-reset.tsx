import { useState } from "preact/hooks"
import { Link, useParams } from "wouter"
import { shellQuoted } from "../../../domain/text.ts"
import { Problem, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { NewPassword } from "../../parts/form/new-password.tsx"
import { ErrorState, Skeleton } from "../../parts/states.tsx"
import { useSignInMethods } from "../../sign-in/sign-in.ts"
import { AccessPage } from "./access-page.tsx"

/** Requests a password reset link. The response is the same for every address, so it does not reveal which accounts exist. */
export function Forgot() {
  const { data, error, refetch } = useSignInMethods()
  return (
    <AccessPage title="Reset your password">
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={3} />
      ) : data.mail ? (
        <ByMail />
      ) : (
        <ByCommand />
      )}
      {/* Drawn once what is above it has its height. */}
      {(data || error) && (
        <p>
          <Link href="/signin">Back to sign in</Link>
        </p>
      )}
    </AccessPage>
  )
}

function ByMail() {
  const [email, setEmail] = useState("")
  const [isSent, setSent] = useState(false)
  if (isSent)
    return (
      <p role="status">
        If an account with this address exists, we've sent it an email. The link works once and expires after one hour. If nothing arrives,
        check your spam folder, then try again.
      </p>
    )
  return (
    <Form
      label="Request a reset link"
      submit={async () => {
        await post("/api/private/auth/forgot", { email: email.trim() }, { isSignIn: true })
        setSent(true)
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Email"
            type="email"
            autocomplete="username"
            value={email}
            onValue={setEmail}
            error={errorOf("/email")}
            note="We'll send a link to choose a new password."
            autofocus
          />
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Send reset link
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Shows the command that resets a password, for instances without a mail server. */
function ByCommand() {
  const [email, setEmail] = useState("")
  const command = `footfall user passwd ${email.trim() === "" ? "<email>" : shellQuoted(email.trim())}`
  return (
    <div class="stack">
      <p>This instance can't send email. Ask its administrator to set a new password for you by running this command on the server:</p>
      <TextField label="Email" type="email" autocomplete="username" value={email} onValue={setEmail} />
      <pre>{command}</pre>
      <div class="row">
        <CopyButton text={command} label="Copy command" />
      </div>
      <p class="small quiet">
        If the data folder isn't the default one, add <code>--data-dir</code> and its path.
      </p>
    </div>
  )
}

/** Sets a new password by the link from a password reset email. */
export function Reset() {
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
