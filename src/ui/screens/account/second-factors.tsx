import { useState } from "preact/hooks"
import type { RecoveryCodesResponse, TotpResponse } from "../../../domain/account.ts"
import { post } from "../../api/api.ts"
import { type Me, useRefreshMe } from "../../api/session.ts"
import { saveFile } from "../../browser/files.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { toast } from "../../parts/toasts.tsx"
import { Part } from "./section.tsx"

interface AuthenticatorAppProps {
  me: Me
  onCodes(codes: readonly string[]): void
}

/** Adds or removes an authenticator app as a second factor. */
export function AuthenticatorApp({ me, onCodes }: AuthenticatorAppProps) {
  const refresh = useRefreshMe()
  const [started, setStarted] = useState<TotpResponse>()
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
        <Form submit={async () => setStarted(await post<TotpResponse>("/api/private/me/totp/start", undefined))} label="Authenticator app">
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
  started: TotpResponse
  onClose(): void
  onDone(codes: string[]): Promise<void>
}

function Enrolment({ started: { secret, qr_svg, ticket }, onClose, onDone }: EnrolmentProps) {
  const [code, setCode] = useState("")
  const confirm = async () => {
    const body = { ticket, code: code.replace(/\s/g, "") }
    const { recovery_codes } = await post<RecoveryCodesResponse>("/api/private/me/totp/confirm", body)
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

interface RecoveryCodesProps {
  me: Me
  onCodes(codes: readonly string[]): void
}

/** Shows how many recovery codes are left and generates a new set. */
export function RecoveryCodes({ me, onCodes }: RecoveryCodesProps) {
  const refresh = useRefreshMe()
  const [isAsking, setAsking] = useState(false)
  const left = me.user.mfa.recovery_codes_left
  return (
    <Part title="Recovery codes">
      <p class="quiet">
        Use one if you lose your second factor. Each code works once.{" "}
        {left === 0 ? "You have none left." : left === 1 ? "You have 1 left." : `You have ${left} left.`}
      </p>
      <div class="row">
        <Button onClick={() => setAsking(true)}>Generate new codes</Button>
      </div>
      {isAsking && (
        <Confirm
          title="Generate new recovery codes?"
          act="Generate new codes"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const { recovery_codes } = await post<RecoveryCodesResponse>("/api/private/me/recovery-codes", undefined)
            onCodes(recovery_codes)
            await refresh()
          }}
        >
          <p>Your existing codes stop working, and all other sessions will be signed out.</p>
        </Confirm>
      )}
    </Part>
  )
}

interface RecoveryCodesDialogProps {
  codes: readonly string[]
  email: string
  onClose(): void
}

/** Shows new recovery codes. They can't be shown again, because only their hashes are stored. */
export function RecoveryCodesDialog({ codes, email, onClose }: RecoveryCodesDialogProps) {
  const text = codes.join("\n")
  return (
    <Dialog title="Your recovery codes" onClose={onClose}>
      <div class="stack">
        <p>Store them where you can reach them without your phone. They're shown only now, and each works once.</p>
        <pre class="codes">{text}</pre>
        <div class="row">
          <Button
            icon="download"
            onClick={() =>
              saveFile(
                `footfall-recovery-codes.txt`,
                new Blob([`Footfall recovery codes of ${email}\n${location.origin}\n\n${text}\n`], { type: "text/plain" }),
              )
            }
          >
            Download codes
          </Button>
          <CopyButton text={text} />
        </div>
        <div class="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            I've saved them
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
