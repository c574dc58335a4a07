import { Link, useParams } from "wouter"
import { EmptyState, Page, QueryResult, UnsavedGuard } from "#plugin/ui"
import type { SettingResponse, SettingsResponse } from "../../operation-responses.ts"
import { useAdmin } from "../queries.ts"
import { MailTest, ProviderTest } from "./connection-tests.tsx"
import { OperatorTable, SettingForm } from "./setting-form.tsx"

interface Group {
  id: string
  label: string
  /** Whether a setting belongs to this group. */
  includes(setting: SettingResponse): boolean
}

const inGroup = (group: string) => (setting: SettingResponse) => setting.group === group
const isOperatorSetting = (setting: SettingResponse) => setting.group === "operator"
const isMail = ({ key }: SettingResponse) => key.startsWith("smtp_") || key === "mail_from"
const isSignOn = ({ key }: SettingResponse) => key.startsWith("oidc_")

const GROUPS: readonly Group[] = [
  { id: "sign-up", label: "Sign-up", includes: inGroup("sign-up") },
  { id: "security", label: "Security", includes: inGroup("security") },
  { id: "sign-on", label: "Single sign-on", includes: (setting) => isOperatorSetting(setting) && isSignOn(setting) },
  { id: "privacy", label: "Privacy", includes: inGroup("privacy") },
  { id: "sharing", label: "Sharing", includes: inGroup("sharing") },
  { id: "mail", label: "Email", includes: (setting) => isOperatorSetting(setting) && isMail(setting) },
  { id: "impersonation", label: "Impersonation", includes: inGroup("impersonation") },
  { id: "outbound", label: "Outgoing requests", includes: inGroup("outbound") },
  { id: "operator", label: "Operator", includes: (setting) => isOperatorSetting(setting) && !isMail(setting) && !isSignOn(setting) },
]

/** Page of all settings with their values and sources. */
export default function SettingsPage() {
  const { group = GROUPS[0]!.id } = useParams<{ group?: string }>()
  const settings = useAdmin<SettingsResponse>("settings")
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
        <QueryResult of={settings} rows={6}>
          {(shown) => <GroupShown key={chosen.id} group={chosen} settings={shown} />}
        </QueryResult>
      ) : (
        <EmptyState>This group of settings doesn't exist.</EmptyState>
      )}
      <UnsavedGuard />
    </Page>
  )
}

function GroupShown({ group, settings }: { group: Group; settings: SettingsResponse }) {
  const members = settings.data.filter(group.includes)
  const here = members.filter(({ editable }) => editable)
  const elsewhere = members.filter(({ editable }) => !editable)
  return (
    <div class="stack">
      {here.length > 0 && (
        <section class="card">
          <SettingForm settings={here} version={settings.version} />
        </section>
      )}
      {elsewhere.length > 0 && <OperatorTable settings={elsewhere} />}
      {group.id === "mail" && <MailTest />}
      {group.id === "sign-on" && <ProviderTest />}
    </div>
  )
}
