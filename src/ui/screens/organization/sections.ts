import type { ComponentType } from "preact"
import type { ORGANIZATION_SECTIONS } from "../../../domain/dashboard-path.ts"
import type { IconName } from "../../parts/icon.tsx"
import { Audit } from "./audit/audit.tsx"
import { Danger } from "./danger.tsx"
import { ApiKeys } from "./keys/api-keys.tsx"
import { Mcp } from "./mcp/mcp.tsx"
import { Invitations } from "./members/invitations.tsx"
import { Members } from "./members/members.tsx"
import { OwnMembership } from "./members/own-membership.tsx"
import { may, type OwnOrganization, type SectionProps } from "./own-organization.ts"
import { MailDomains } from "./providers/mail-domains.tsx"
import { Providers } from "./providers/providers.tsx"
import { Settings } from "./settings.tsx"
import { Usage } from "./usage.tsx"

interface Section {
  id: (typeof ORGANIZATION_SECTIONS)[number]
  label: string
  group: "People" | "Integrations" | "Organization"
  icon: IconName
  /** Required permission, with its description. Without a name, every member except guests has it. If absent, every member has it. */
  permission?: { name?: string; words: string }
  Content: ComponentType<SectionProps>
}

const MEMBERS = { name: "members:read", words: "view the members of the organization" }
const SETTINGS = { name: "org:write", words: "edit organization settings" }

/** Sections in the order of the rail. */
export const SECTIONS: readonly Section[] = [
  { id: "members", label: "Members", group: "People", icon: "people", permission: MEMBERS, Content: Members },
  { id: "invitations", label: "Invitations", group: "People", icon: "plus", permission: MEMBERS, Content: Invitations },
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
    icon: "overview",
    permission: { words: "view the usage of the organization" },
    Content: Usage,
  },
  { id: "settings", label: "Settings", group: "Organization", icon: "settings", permission: SETTINGS, Content: Settings },
  { id: "providers", label: "Identity providers", group: "Organization", icon: "lock", permission: SETTINGS, Content: Providers },
  { id: "domains", label: "Email domains", group: "Organization", icon: "check", permission: SETTINGS, Content: MailDomains },
  {
    id: "audit",
    label: "Audit log",
    group: "Organization",
    icon: "search",
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
    return permission.name === undefined ? organization.role !== "guest" : may(organization, permission.name)
  })
