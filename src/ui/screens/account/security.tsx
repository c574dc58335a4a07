import { useState } from "preact/hooks"
import { boot, type Me } from "../../boot.ts"
import { AuthenticatorApp } from "./authenticator-app.tsx"
import { PasskeyList } from "./passkey-list.tsx"
import { PasswordChange } from "./password-change.tsx"
import { CodesShown, RecoveryCodes } from "./recovery-codes.tsx"

/** Password, second factor, recovery codes, passkeys. Codes that were just made are shown once, over everything. */
export function Security({ me }: { me: Me }) {
  const [codes, setCodes] = useState<readonly string[]>()
  const { totp, passkeys } = me.user.mfa
  const hasFactor = totp || passkeys > 0
  return (
    <>
      <PasswordChange me={me} />
      <AuthenticatorApp me={me} onCodes={setCodes} />
      <PasskeyList onAdded={goOn} />
      {hasFactor && <RecoveryCodes me={me} onCodes={setCodes} />}
      {codes && (
        <CodesShown
          codes={codes}
          email={me.user.email}
          onClose={() => {
            setCodes(undefined)
            goOn()
          }}
        />
      )}
    </>
  )
}

/** Once the factor that a policy asked for is there, everything else opens with a new load. */
function goOn(): void {
  if (boot.factor_missing) location.assign("/")
}
