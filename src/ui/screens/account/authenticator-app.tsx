import { useState } from "preact/hooks"
import { post } from "../../api.ts"
import type { Me } from "../../boot.ts"
import { useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { toast } from "../../toasts.ts"
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

/** Codes of an app beside the password. */
export function AuthenticatorApp({ me, onCodes }: AuthenticatorAppProps) {
  const refresh = useRefreshMe()
  const [started, setStarted] = useState<Started>()
  const [isRemoving, setRemoving] = useState(false)
  const { totp } = me.user.mfa
  return (
    <Part title="Authenticator app">
      <p class="quiet">
        {totp ? "Signing in by password asks for its code." : "A code of an app on your phone, asked for beside the password."}
      </p>
      {totp ? (
        <div class="row">
          <Button kind="danger" onClick={() => setRemoving(true)}>
            Remove the app
          </Button>
        </div>
      ) : (
        <Form submit={async () => setStarted(await post<Started>("/api/private/me/totp/start", undefined))} label="Authenticator app">
          {({ busy }) => (
            <div class="row">
              <Button type="submit" busy={busy}>
                Add an app
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
          title="Remove the authenticator app"
          act="Remove the app"
          onClose={() => setRemoving(false)}
          onConfirm={async () => {
            await post("/api/private/me/totp/disable", undefined)
            await refresh()
            toast("The app was removed. All other sessions have ended.")
          }}
        >
          <p>Without a passkey, the password alone signs in from then on, and your recovery codes are void. All other sessions end.</p>
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
    <Dialog title="Add an authenticator app" onClose={onClose}>
      <Form submit={confirm} label="Add an authenticator app">
        {({ busy, errorOf }) => (
          <>
            <p>Read the picture with the app, or type the key into it. Then enter the code that it shows.</p>
            {/* A picture from a data address runs nothing, whatever is in it. */}
            <img class="qr" src={`data:image/svg+xml,${encodeURIComponent(qr_svg)}`} alt="The key as a QR code" width="200" height="200" />
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
                Add the app
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
