import { useState } from "preact/hooks"
import { Link } from "wouter"
import { post } from "../../api.ts"
import { Button } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { ErrorState, Skeleton } from "../../parts/states.tsx"
import { useWaysIn } from "../../sign-in/ways-in.ts"
import { AccessPage } from "./access-page.tsx"

/** Asks for a link to choose a new password. What it answers is the same for every address. */
export default function Forgot() {
  const { data, error, refetch } = useWaysIn()
  return (
    <AccessPage title="Forgotten password">
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={3} />
      ) : data.mail ? (
        <ByMail />
      ) : (
        <ByCommand />
      )}
      <p>
        <Link href="/signin">Back to sign in</Link>
      </p>
    </AccessPage>
  )
}

function ByMail() {
  const [email, setEmail] = useState("")
  const [isSent, setSent] = useState(false)
  if (isSent)
    return (
      <p role="status">
        If there is an account with this address, a mail is on its way. Its link is good for one hour and for one use. Nothing came? Look
        among unwanted mails, then ask again.
      </p>
    )
  return (
    <Form
      label="Ask for a link"
      submit={async () => {
        await post("/api/private/auth/forgot", { email: email.trim() }, { isSignIn: true })
        setSent(true)
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="E-mail"
            type="email"
            autocomplete="username"
            value={email}
            onValue={setEmail}
            error={errorOf("/email")}
            note="A link to choose a new password is sent there."
            autofocus
          />
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Send the link
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Without a mail server whoever runs the instance gives a new password. */
function ByCommand() {
  const [email, setEmail] = useState("")
  const command = `footfall user passwd ${email.trim() === "" ? "<e-mail>" : quoted(email.trim())}`
  return (
    <div class="stack">
      <p>This instance sends no mail. Whoever runs it can give you a new password with this command:</p>
      <TextField label="E-mail" type="email" autocomplete="username" value={email} onValue={setEmail} />
      <pre>{command}</pre>
      <div class="row">
        <CopyButton text={command} label="Copy command" />
      </div>
    </div>
  )
}

/** So that a shell takes it as one word and as nothing else. */
const quoted = (text: string): string => (/^[\w.+@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
