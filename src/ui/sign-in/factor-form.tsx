import { useState } from "preact/hooks"
import type { FactorAcceptedResponse, FactorRequiredResponse } from "../../domain/sign-in.ts"
import { post } from "../api/api.ts"
import { Button } from "../parts/button.tsx"
import { TextField } from "../parts/form/fields.tsx"
import { Form } from "../parts/form/form.tsx"
import { askPasskey, canUsePasskeys } from "./passkey.ts"

/** Form for the second factor: a field for a code from an app or a recovery code, and a passkey button. */
export function FactorForm({ wanted, onDone }: { wanted: FactorRequiredResponse; onDone(signedIn: FactorAcceptedResponse): void }) {
  const { methods, ticket } = wanted
  const [code, setCode] = useState("")
  const [isRecovery, setRecovery] = useState(!methods.includes("totp") && methods.includes("recovery"))
  const hasPasskey = methods.includes("passkey") && canUsePasskeys()
  const byCode = async () => {
    const proof = isRecovery ? { recovery_code: code.trim() } : { code: code.replace(/\s/g, "") }
    onDone(await post<FactorAcceptedResponse>("/api/private/auth/mfa", { ticket, ...proof }, { isSignIn: true }))
  }
  const hasField = isRecovery || methods.includes("totp")
  return (
    <>
      {hasField && (
        <Form submit={byCode} key={String(isRecovery)}>
          {({ busy, errorOf }) => (
            <>
              <TextField
                label={isRecovery ? "Recovery code" : "Code"}
                note={isRecovery ? "One of your ten recovery codes. Each works once." : "The six-digit code from your authenticator app."}
                error={errorOf(isRecovery ? "/recovery_code" : "/code")}
                value={code}
                onValue={setCode}
                autocomplete={isRecovery ? "off" : "one-time-code"}
                {...(!isRecovery && { inputMode: "numeric" as const })}
                autofocus
                code
              />
              <div class="row">
                <Button kind="primary" type="submit" busy={busy}>
                  Continue
                </Button>
              </div>
            </>
          )}
        </Form>
      )}
      {hasPasskey && <PasskeyForm ticket={ticket} onDone={onDone} kind={hasField ? "plain" : "primary"} />}
      {methods.includes("recovery") && methods.includes("totp") && (
        <p>
          <button
            type="button"
            class="text-button"
            onClick={() => {
              setCode("")
              setRecovery(!isRecovery)
            }}
          >
            {isRecovery ? "Use a code from the app" : "Use a recovery code"}
          </button>
        </p>
      )}
    </>
  )
}

interface PasskeyFormProps {
  /** Ticket of a correct password. Without it, any passkey of the instance can sign in. */
  ticket?: string
  kind?: "plain" | "primary"
  onDone(signedIn: FactorAcceptedResponse): void
}

/** Button that signs in with a passkey, with errors above it. */
export const PasskeyForm = ({ ticket, kind = "plain", onDone }: PasskeyFormProps) => (
  <Form
    label="Passkey"
    submit={async () =>
      onDone(await post<FactorAcceptedResponse>("/api/private/auth/passkey/verify", await askPasskey(ticket), { isSignIn: true }))
    }
  >
    {({ busy }) => (
      <Button kind={kind} icon="key" type="submit" busy={busy}>
        Use a passkey
      </Button>
    )}
  </Form>
)
