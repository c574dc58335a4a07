import type { ComponentType } from "preact"
import type { IconName } from "../../parts/icon.tsx"
import { ApiKeys } from "./api-keys.tsx"
import { Audit } from "./audit.tsx"
import { Danger } from "./danger.tsx"
import { Invitations } from "./invitations.tsx"
import { MailDomains } from "./mail-domains.tsx"
import { Mcp } from "./mcp.tsx"
import { Members } from "./members.tsx"
import { OwnMembership } from "./own-membership.tsx"
import { may, type OwnOrganization, type SectionProps } from "./own-organization.ts"
import { Providers } from "./providers.tsx"
import { Settings } from "./settings.tsx"
import { Usage } from "./usage.tsx"

interface Section {
  id: string
  label: string
  group: "People" | "Programs" | "Organization"
  icon: IconName
  /** What it takes to see it, and that in words; without a name every member has it but guests, absent: everybody. */
  permission?: { name?: string; words: string }
  Content: ComponentType<SectionProps>
}

const MEMBERS = { name: "members:read", words: "see who belongs to the organization" }
const SETTINGS = { name: "org:write", words: "change settings of the organization" }

/** In the order of the rail. */
export const SECTIONS: readonly Section[] = [
  { id: "members", label: "Members", group: "People", icon: "people", permission: MEMBERS, Content: Members },
  { id: "invitations", label: "Invitations", group: "People", icon: "plus", permission: MEMBERS, Content: Invitations },
  { id: "membership", label: "Your role", group: "People", icon: "user", Content: OwnMembership },
  {
    id: "keys",
    label: "API keys",
    group: "Programs",
    icon: "key",
    permission: { name: "keys:write", words: "manage API keys" },
    Content: ApiKeys,
  },
  { id: "mcp", label: "MCP", group: "Programs", icon: "integrations", Content: Mcp },
  {
    id: "usage",
    label: "Usage",
    group: "Programs",
    icon: "overview",
    permission: { words: "see how large the organization is" },
    Content: Usage,
  },
  { id: "settings", label: "Settings", group: "Organization", icon: "settings", permission: SETTINGS, Content: Settings },
  { id: "providers", label: "Identity providers", group: "Organization", icon: "lock", permission: SETTINGS, Content: Providers },
  { id: "domains", label: "Mail domains", group: "Organization", icon: "check", permission: SETTINGS, Content: MailDomains },
  {
    id: "audit",
    label: "Audit",
    group: "Organization",
    icon: "search",
    permission: { name: "audit:read", words: "read the audit log" },
    Content: Audit,
  },
  {
    id: "danger",
    label: "Danger",
    group: "Organization",
    icon: "warning",
    permission: { name: "org:delete", words: "delete the organization" },
    Content: Danger,
  },
]
export const GROUPS = ["People", "Programs", "Organization"] as const

export const openSections = (organization: OwnOrganization): readonly Section[] =>
  SECTIONS.filter(({ permission }) => {
    if (permission === undefined) return true
    return permission.name === undefined ? organization.role !== "guest" : may(organization, permission.name)
  })
