import { Link, useParams } from "wouter"
import { Answer, EmptyState, Page, UnsavedGuard } from "#plugin/ui"
import type { Setting, Settings } from "./answers.ts"
import { useAdmin } from "./ask.ts"
import { MailTest } from "./mail-test.tsx"
import { OperatorTable } from "./operator-table.tsx"
import { ProviderTest } from "./provider-test.tsx"
import { SettingForm } from "./setting-form.tsx"

interface Group {
  id: string
  label: string
  /** Of the groups of the instance; of the operator's settings those whose names begin so. */
  holds(setting: Setting): boolean
}

const of = (group: string) => (setting: Setting) => setting.group === group
const ofOperator = (setting: Setting) => setting.group === "operator"
const isMail = ({ key }: Setting) => key.startsWith("smtp_") || key === "mail_from"
const isSignOn = ({ key }: Setting) => key.startsWith("oidc_")

const GROUPS: readonly Group[] = [
  { id: "sign-up", label: "Sign-up", holds: of("sign-up") },
  { id: "security", label: "Security", holds: of("security") },
  { id: "sign-on", label: "Single sign-on", holds: (setting) => ofOperator(setting) && isSignOn(setting) },
  { id: "privacy", label: "Privacy", holds: of("privacy") },
  { id: "sharing", label: "Sharing", holds: of("sharing") },
  { id: "mail", label: "Mail", holds: (setting) => ofOperator(setting) && isMail(setting) },
  { id: "impersonation", label: "Looking as users", holds: of("impersonation") },
  { id: "outbound", label: "Outbound", holds: of("outbound") },
  { id: "operator", label: "Operator", holds: (setting) => ofOperator(setting) && !isMail(setting) && !isSignOn(setting) },
]

/** Every setting with its value and where that comes from. */
export default function SettingsPage() {
  const { group = GROUPS[0]!.id } = useParams<{ group?: string }>()
  const settings = useAdmin<Settings>("settings")
  const chosen = GROUPS.find(({ id }) => id === group)
  return (
    <Page title="Settings">
      <nav class="tabs section-tabs" aria-label="Settings">
        {GROUPS.map(({ id, label }) => (
          <Link key={id} href={`/admin/settings/${id}`} class="tab" aria-current={id === group ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      {chosen ? (
        <Answer of={settings} rows={6}>
          {(shown) => <GroupShown key={chosen.id} group={chosen} settings={shown} />}
        </Answer>
      ) : (
        <EmptyState>There is no such group of settings.</EmptyState>
      )}
      <UnsavedGuard />
    </Page>
  )
}

function GroupShown({ group, settings }: { group: Group; settings: Settings }) {
  const held = settings.data.filter(group.holds)
  const here = held.filter(({ editable }) => editable)
  const elsewhere = held.filter(({ editable }) => !editable)
  return (
    <div class="stack">
      {here.length > 0 && <SettingForm settings={here} version={settings.version} />}
      {elsewhere.length > 0 && <OperatorTable settings={elsewhere} />}
      {group.id === "mail" && <MailTest />}
      {group.id === "sign-on" && <ProviderTest />}
    </div>
  )
}
