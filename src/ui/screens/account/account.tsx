import type { ComponentType } from "preact"
import { useState } from "preact/hooks"
import { Link, Redirect, useParams } from "wouter"
import type { ACCOUNT_SECTIONS } from "../../../domain/dashboard-path.ts"
import { boot, type Me, useMe } from "../../api/session.ts"
import { Page } from "../../parts/page.tsx"
import { NotFound } from "../../parts/states.tsx"
import { PlainShell } from "../../shell/sections-shell.tsx"
import { AuthenticatorApp } from "./authenticator-app.tsx"
import { PasskeyList } from "./passkey-list.tsx"
import { PasswordChange } from "./password-change.tsx"
import { Preferences } from "./preferences.tsx"
import { Profile } from "./profile.tsx"
import { CodesShown, RecoveryCodes } from "./recovery-codes.tsx"
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
  if (!me || !isSection(section)) return <NotFound />
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
