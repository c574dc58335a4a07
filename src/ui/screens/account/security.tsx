import { useState } from "preact/hooks"
import { boot, type Me } from "../../api/session.ts"
import { AuthenticatorApp } from "./authenticator-app.tsx"
import { PasskeyList } from "./passkey-list.tsx"
import { PasswordChange } from "./password-change.tsx"
import { CodesShown, RecoveryCodes } from "./recovery-codes.tsx"

/** Renders password, authenticator app, passkeys and recovery codes. New recovery codes are shown once in a dialog. */
export function Security({ me }: { me: Me }) {
  const [codes, setCodes] = useState<readonly string[]>()
  const { totp, passkeys } = me.user.mfa
  const hasFactor = totp || passkeys > 0
  return (
    <>
      <PasswordChange me={me} />
      <AuthenticatorApp me={me} onCodes={setCodes} />
      <PasskeyList onAdded={reloadIfUnlocked} />
      {hasFactor && <RecoveryCodes me={me} onCodes={setCodes} />}
      {codes && (
        <CodesShown
          codes={codes}
          email={me.user.email}
          onClose={() => {
            setCodes(undefined)
            reloadIfUnlocked()
          }}
        />
      )}
    </>
  )
}

/** Reloads once the required second factor exists, because everything else opens only then. */
function reloadIfUnlocked(): void {
  if (boot.factor_missing) location.assign("/")
}
