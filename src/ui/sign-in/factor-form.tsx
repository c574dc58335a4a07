import { useState } from "preact/hooks"
import { post } from "../api.ts"
import { Button } from "../parts/button.tsx"
import { TextField } from "../parts/fields.tsx"
import { Form } from "../parts/form.tsx"
import { askPasskey, canUsePasskeys } from "./passkey.ts"

export interface SignedIn {
  user: { id: number }
  recovery_codes_left?: number
}

/** The password was right, and something more is wanted. */
export interface FactorWanted {
  mfa_required: true
  methods: ("totp" | "passkey" | "recovery")[]
  ticket: string
}

/** The second factor: one field for the code of an app or one of the recovery codes, and the passkey. */
export function FactorForm({ wanted, onDone }: { wanted: FactorWanted; onDone(signedIn: SignedIn): void }) {
  const { methods, ticket } = wanted
  const [code, setCode] = useState("")
  const [isRecovery, setRecovery] = useState(!methods.includes("totp") && methods.includes("recovery"))
  const hasPasskey = methods.includes("passkey") && canUsePasskeys()
  const byCode = async () => {
    const proof = isRecovery ? { recovery_code: code.trim() } : { code: code.replace(/\s/g, "") }
    onDone(await post<SignedIn>("/api/private/auth/mfa", { ticket, ...proof }, { isSignIn: true }))
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
                note={
                  isRecovery ? "One of the ten codes you kept. Each works once." : "The six figures that your authenticator app shows now."
                }
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
                  Go on
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
            {isRecovery ? "Use the code of the app" : "Use a recovery code"}
          </button>
        </p>
      )}
    </>
  )
}

interface PasskeyFormProps {
  /** Of a right password; without it any passkey of the instance signs in. */
  ticket?: string
  kind?: "plain" | "primary"
  onDone(signedIn: SignedIn): void
}

/** One button; what fails is said above it. */
export const PasskeyForm = ({ ticket, kind = "plain", onDone }: PasskeyFormProps) => (
  <Form
    label="Passkey"
    submit={async () => onDone(await post<SignedIn>("/api/private/auth/passkey/verify", await askPasskey(ticket), { isSignIn: true }))}
  >
    {({ busy }) => (
      <Button kind={kind} icon="key" type="submit" busy={busy}>
        Use a passkey
      </Button>
    )}
  </Form>
)
