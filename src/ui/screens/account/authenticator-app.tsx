import { useState } from "preact/hooks"
import { post } from "../../api/api.ts"
import { type Me, useRefreshMe } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { toast } from "../../parts/toasts.tsx"
import { Part } from "./section.tsx"

interface Started {
  secret: string
  otpauth_uri: string
  qr_svg: string
  ticket: string
}

interface AuthenticatorAppProps {
  me: Me
  onCodes(codes: readonly string[]): void
}

/** Adds or removes an authenticator app as a second factor. */
export function AuthenticatorApp({ me, onCodes }: AuthenticatorAppProps) {
  const refresh = useRefreshMe()
  const [started, setStarted] = useState<Started>()
  const [isRemoving, setRemoving] = useState(false)
  const { totp } = me.user.mfa
  return (
    <Part title="Authenticator app">
      <p class="quiet">
        {totp
          ? "You're asked for a code from the app when you sign in with your password."
          : "Ask for a code from an app as well as the password."}
      </p>
      {totp ? (
        <div class="row">
          <Button kind="danger" onClick={() => setRemoving(true)}>
            Remove authenticator app{" "}
          </Button>
        </div>
      ) : (
        <Form submit={async () => setStarted(await post<Started>("/api/private/me/totp/start", undefined))} label="Authenticator app">
          {({ busy }) => (
            <div class="row">
              <Button type="submit" busy={busy}>
                Add authenticator app
              </Button>
            </div>
          )}
        </Form>
      )}
      {started && (
        <Enrolment
          started={started}
          onClose={() => setStarted(undefined)}
          onDone={async (codes) => {
            setStarted(undefined)
            onCodes(codes)
            await refresh()
          }}
        />
      )}
      {isRemoving && (
        <Confirm
          title="Remove authenticator app?"
          act="Remove authenticator app"
          onClose={() => setRemoving(false)}
          onConfirm={async () => {
            await post("/api/private/me/totp/disable", undefined)
            await refresh()
            toast("Authenticator app removed. All other sessions were signed out.")
          }}
        >
          <p>
            Unless you have a passkey, your password alone will be enough to sign in, and your recovery codes stop working. All other
            sessions will be signed out.
          </p>
        </Confirm>
      )}
    </Part>
  )
}

interface EnrolmentProps {
  started: Started
  onClose(): void
  onDone(codes: string[]): Promise<void>
}

function Enrolment({ started: { secret, qr_svg, ticket }, onClose, onDone }: EnrolmentProps) {
  const [code, setCode] = useState("")
  const confirm = async () => {
    const body = { ticket, code: code.replace(/\s/g, "") }
    const { recovery_codes } = await post<{ recovery_codes: string[] }>("/api/private/me/totp/confirm", body)
    await onDone(recovery_codes)
  }
  return (
    <Dialog title="Add authenticator app" onClose={onClose}>
      <Form submit={confirm} label="Add authenticator app">
        {({ busy, errorOf }) => (
          <>
            <p>Scan the QR code with the app or enter the key by hand. Then enter the code the app shows.</p>
            {/* An image from a data URL executes no script, whatever it contains. */}
            <img class="qr" src={`data:image/svg+xml,${encodeURIComponent(qr_svg)}`} alt="QR code with the key" width="200" height="200" />
            <div class="row">
              <code class="key-text">{secret.match(/.{1,4}/g)?.join(" ")}</code>
              <CopyButton text={secret} label="Copy key" />
            </div>
            <TextField
              label="Code"
              value={code}
              onValue={setCode}
              error={errorOf("/code")}
              inputMode="numeric"
              autocomplete="one-time-code"
              autofocus
              code
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Add app
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
