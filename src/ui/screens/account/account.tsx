import type { ComponentType } from "preact"
import { useState } from "preact/hooks"
import { Link, Redirect, useParams } from "wouter"
import type { ACCOUNT_SECTIONS } from "../../../domain/dashboard-path.ts"
import { Problem, post } from "../../api/api.ts"
import { boot, type Me, useMe } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { NewPassword } from "../../parts/form/new-password.tsx"
import { Page } from "../../parts/page.tsx"
import { toast } from "../../parts/toasts.tsx"
import { NoSuchPage, PlainShell } from "../../shell/sections-shell.tsx"
import { PasskeyList } from "./passkey-list.tsx"
import { Preferences } from "./preferences.tsx"
import { Profile } from "./profile.tsx"
import { AuthenticatorApp, RecoveryCodes, RecoveryCodesDialog } from "./second-factors.tsx"
import { Part } from "./section.tsx"
import { SessionList } from "./session-list.tsx"

type SectionId = (typeof ACCOUNT_SECTIONS)[number]
const SECTIONS: Readonly<Record<SectionId, { label: string; Section: ComponentType<{ me: Me }> }>> = {
  profile: { label: "Profile", Section: Profile },
  security: { label: "Security", Section: Security },
  sessions: { label: "Sessions", Section: SessionList },
  preferences: { label: "Preferences", Section: Preferences },
}

const isSection = (id: string): id is SectionId => id in SECTIONS

/** Renders one section of the user's own account. */
export default function Account() {
  const { section } = useParams<{ section?: string }>()
  const me = useMe()
  if (section === undefined) return <Redirect to="/account/profile" replace />
  if (!me || !isSection(section)) return <NoSuchPage />
  const { label, Section } = SECTIONS[section]
  return (
    <PlainShell>
      <Page title={`Account: ${label.toLowerCase()}`}>
        <nav aria-label="Account">
          <div class="tabs">
            {Object.entries(SECTIONS).map(([id, { label: name }]) => (
              <Link key={id} href={`/account/${id}`} class="tab" aria-current={id === section ? "page" : undefined}>
                {name}
              </Link>
            ))}
          </div>
        </nav>
        {boot.factor_missing && <FactorMissing />}
        {me.impersonation ? <NotYours /> : <Section me={me} />}
      </Page>
    </PlainShell>
  )
}

/** Explains why only the account pages open. */
const FactorMissing = () => (
  <div class="notice" data-kind="warn" role="note">
    Your organization or this instance requires two-step verification. Add an authenticator app or a passkey under Security to open anything
    other than your account.
  </div>
)

const NotYours = () => <p class="quiet">You're impersonating another user. Their account settings aren't available.</p>

/** Renders password, authenticator app, passkeys and recovery codes. New recovery codes are shown once in a dialog. */
function Security({ me }: { me: Me }) {
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
        <RecoveryCodesDialog
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

export function PasswordChange({ me: { user } }: { me: Me }) {
  const [current, setCurrent] = useState("")
  const [password, setPassword] = useState("")
  const submit = async () => {
    // The password typed here also confirms the user's identity, so that they aren't asked for it twice.
    if (current !== "") await post("/api/private/auth/reauth", { password: current }, { isSignIn: true }).catch(sayWhich)
    await post("/api/private/me/password", { ...(current !== "" && { current }), password }).catch(sayWhich)
    setCurrent("")
    setPassword("")
    toast("Password changed. All other sessions were signed out.")
  }
  return (
    <Part title="Password">
      <Form submit={submit} label="Password">
        {({ busy, errorOf }) => (
          <>
            <input
              type="email"
              class="visually-hidden"
              autocomplete="username"
              value={user.email}
              readOnly
              tabIndex={-1}
              aria-hidden="true"
            />
            <TextField
              label="Current password"
              note="Leave empty if you don't have one."
              type="password"
              autocomplete="current-password"
              value={current}
              onValue={setCurrent}
              error={errorOf("/current")}
            />
            <NewPassword label="New password" value={password} onValue={setPassword} email={user.email} error={errorOf("/password")} />
            <div class="row">
              <Button type="submit" busy={busy} disabled={password === ""}>
                Change password
              </Button>
            </div>
          </>
        )}
      </Form>
    </Part>
  )
}

function sayWhich(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== "invalid_credentials") throw error
  const detail = "The current password is incorrect."
  throw new Problem(error.status, error.code, detail, { errors: [{ pointer: "/current", code: error.code, detail }] })
}
