import type { ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Redirect, useParams } from "wouter"
import type { ORGANIZATION_SECTIONS } from "../../../domain/dashboard-path.ts"
import { useMe } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Forbidden } from "../../parts/forbidden.tsx"
import { UnsavedGuard } from "../../parts/form/unsaved.tsx"
import { type AnyIcon, Icon } from "../../parts/icon.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { MenuItem, Popover } from "../../parts/menu.tsx"
import { Page } from "../../parts/page.tsx"
import { SECTION_ICONS } from "../../parts/section-icons.ts"
import { EmptyState, Skeleton } from "../../parts/states.tsx"
import { NoSuchPage, PlainShell, SectionsShell } from "../../shell/sections-shell.tsx"
import { visible } from "../../text/safe-text.tsx"
import { Audit } from "./audit/audit.tsx"
import { Danger } from "./danger.tsx"
import { ApiKeys } from "./keys/api-keys.tsx"
import { Invitations } from "./members/invitations.tsx"
import { Members } from "./members/members.tsx"
import { OwnMembership } from "./members/own-membership.tsx"
import { can, type OwnOrganization, type SectionProps } from "./own-organization.ts"
import { MailDomains } from "./providers/mail-domains.tsx"
import { Providers } from "./providers/providers.tsx"
import { Settings } from "./settings.tsx"

const Mcp = lazyPart(() => import("./mcp.tsx"), "Mcp")
const Usage = lazyPart(() => import("./usage.tsx"), "Usage")
const NewOrganization = lazyPart(() => import("./new-organization.tsx"))

/** Renders one section of an organization. If the URL names no organization, opens the user's first. */
export default function Organization() {
  const params = useParams<{ organization?: string; section?: string }>()
  const me = useMe()
  const own = me?.organizations ?? []
  if (!me) return <NoSuchPage />
  if (params.organization === undefined) return own[0] ? <ToFirstSection organization={own[0]} /> : <NoOrganization />
  const organization = own.find(({ id }) => String(id) === params.organization)
  if (!organization) return <NoSuchPage />
  const open = openSections(organization)
  if (params.section === undefined) return <ToFirstSection organization={organization} />
  const wanted = SECTIONS.find(({ id }) => id === params.section)
  if (!wanted) return <NoSuchPage />
  const groups = GROUPS.map((title) => ({
    title,
    entries: open
      .filter(({ group }) => group === title)
      .map(({ id, label, icon }) => ({ label, icon, href: `/org/${organization.id}/${id}`, isCurrent: id === wanted.id })),
  }))
  return (
    <SectionsShell label="Organization" groups={groups} bar={<OrganizationSwitcher organization={organization} own={own} />}>
      {open.includes(wanted) ? (
        <>
          <Suspense
            fallback={
              <Page title={wanted.label}>
                <Skeleton rows={6} />
              </Page>
            }
          >
            <wanted.Content key={`${organization.id} ${wanted.id}`} organization={organization} me={me} />
          </Suspense>
          <UnsavedGuard />
        </>
      ) : (
        <Forbidden permission={wanted.permission?.words ?? ""} giver="An owner of the organization" />
      )}
    </SectionsShell>
  )
}

const ToFirstSection = ({ organization }: { organization: OwnOrganization }) => (
  <Redirect to={`/org/${organization.id}/${openSections(organization)[0]?.id}`} replace />
)

/** Shows the name of the organization and a menu of the user's other organizations. */
function OrganizationSwitcher({ organization, own }: { organization: OwnOrganization; own: readonly OwnOrganization[] }) {
  const me = useMe()
  const [isNew, setNew] = useState(false)
  const name = visible(organization.name)
  const canCreate = me?.makes_organizations ?? false
  if (own.length === 1 && !canCreate) return <strong class="site-name">{name}</strong>
  return (
    <>
      <Popover
        kind="quiet"
        label={`Organization: ${name}`}
        button={
          <>
            <strong class="site-name">{name}</strong>
            <Icon name="down" />
          </>
        }
      >
        {(close) => (
          <>
            {own.map(({ id, name: other }) => (
              <MenuItem key={id} href={`/org/${id}`}>
                {visible(other)}
              </MenuItem>
            ))}
            {canCreate && (
              <>
                <hr class="menu-line" />
                <MenuItem
                  onSelect={() => {
                    close()
                    setNew(true)
                  }}
                >
                  New organization
                </MenuItem>
              </>
            )}
          </>
        )}
      </Popover>
      {isNew && (
        <Suspense fallback={<div class="progress-line" />}>
          <NewOrganization onClose={() => setNew(false)} />
        </Suspense>
      )}
    </>
  )
}

function NoOrganization() {
  const canCreate = useMe()?.makes_organizations ?? false
  const [isNew, setNew] = useState(false)
  return (
    <PlainShell>
      <Page title="Organization">
        <EmptyState action={canCreate && <Button onClick={() => setNew(true)}>Create organization</Button>}>
          You aren't a member of any organization. Ask for an invitation{canCreate ? " or create your own organization" : ""}.
        </EmptyState>
      </Page>
      {isNew && (
        <Suspense fallback={<div class="progress-line" />}>
          <NewOrganization onClose={() => setNew(false)} />
        </Suspense>
      )}
    </PlainShell>
  )
}

interface Section {
  id: (typeof ORGANIZATION_SECTIONS)[number]
  label: string
  group: "People" | "Integrations" | "Organization"
  icon: AnyIcon
  /** Required permission, with its description. Without a name, every member except guests has it. If absent, every member has it. */
  permission?: { name?: string; words: string }
  Content: ComponentType<SectionProps>
}

const MEMBERS = { name: "members:read", words: "view the members of the organization" }
const SETTINGS = { name: "org:write", words: "edit organization settings" }

/** Sections in the order of the rail. */
export const SECTIONS: readonly Section[] = [
  { id: "members", label: "Members", group: "People", icon: "people", permission: MEMBERS, Content: Members },
  { id: "invitations", label: "Invitations", group: "People", icon: SECTION_ICONS.mail, permission: MEMBERS, Content: Invitations },
  { id: "membership", label: "Your role", group: "People", icon: "user", Content: OwnMembership },
  {
    id: "keys",
    label: "API keys",
    group: "Integrations",
    icon: "key",
    permission: { name: "keys:write", words: "manage API keys" },
    Content: ApiKeys,
  },
  { id: "mcp", label: "MCP", group: "Integrations", icon: "integrations", Content: Mcp },
  {
    id: "usage",
    label: "Usage",
    group: "Integrations",
    icon: SECTION_ICONS.gauge,
    permission: { words: "view the usage of the organization" },
    Content: Usage,
  },
  { id: "settings", label: "Settings", group: "Organization", icon: "settings", permission: SETTINGS, Content: Settings },
  { id: "providers", label: "Identity providers", group: "Organization", icon: "lock", permission: SETTINGS, Content: Providers },
  { id: "domains", label: "Email domains", group: "Organization", icon: SECTION_ICONS.at, permission: SETTINGS, Content: MailDomains },
  {
    id: "audit",
    label: "Audit log",
    group: "Organization",
    icon: SECTION_ICONS.history,
    permission: { name: "audit:read", words: "view the audit log" },
    Content: Audit,
  },
  {
    id: "danger",
    label: "Danger zone",
    group: "Organization",
    icon: "warning",
    permission: { name: "org:delete", words: "delete the organization" },
    Content: Danger,
  },
]
export const GROUPS = ["People", "Integrations", "Organization"] as const

export const openSections = (organization: OwnOrganization): readonly Section[] =>
  SECTIONS.filter(({ permission }) => {
    if (permission === undefined) return true
    return permission.name === undefined ? organization.role !== "guest" : can(organization, permission.name)
  })
