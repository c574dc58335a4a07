import { Link, Redirect, useParams } from "wouter"
import { boot } from "../../boot.ts"
import { useMe } from "../../me.ts"
import { Page } from "../../parts/page.tsx"
import { PlainShell } from "../../shell/plain-shell.tsx"
import { NotFound } from "../../shell/system-pages.tsx"
import { Preferences } from "./preferences.tsx"
import { Profile } from "./profile.tsx"
import { Security } from "./security.tsx"
import { SessionList } from "./session-list.tsx"

const SECTIONS = {
  profile: { label: "Profile", Section: Profile },
  security: { label: "Security", Section: Security },
  sessions: { label: "Sessions", Section: SessionList },
  preferences: { label: "Preferences", Section: Preferences },
} as const
type SectionId = keyof typeof SECTIONS

const isSection = (id: string): id is SectionId => id in SECTIONS

/** The own account, one section at a time. */
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

/** Why nothing else opens. */
const FactorMissing = () => (
  <div class="notice" data-kind="warn" role="note">
    This instance or your organization asks for a second factor. Until you add an authenticator app or a passkey under Security, only your
    account is open.
  </div>
)

const NotYours = () => <p class="quiet">You look at the instance as somebody else. Their account is theirs alone.</p>
