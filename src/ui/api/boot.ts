import type { FlatArguments } from "../../domain/site-address.ts"
import type { SiteShown } from "./site.ts"

export interface Me {
  user: {
    id: number
    email: string
    email_verified: boolean
    name: string
    is_instance_admin: boolean
    mfa: { totp: boolean; passkeys: number; recovery_codes_left: number }
    locale: string | null
    time_format: string | null
    theme: string | null
    shortcuts: boolean
    start_page: string | null
    version: number
  }
  organizations: { id: number; name: string; role: string; policy: Record<string, unknown>; permissions: string[] }[]
  sites: { id: number; name: string; organization_id: number; role: string; permissions: string[] }[]
  /** Ids of the enabled plugins. */
  features: string[]
  makes_organizations: boolean
  impersonation?: { by: string; mode: string; expires_at: string }
}

/** Data that the server embeds in the page (`src/http/dashboard/boot.ts`). */
export interface Boot {
  version: string
  build: string
  setup_needed: boolean
  me?: Me
  factor_missing?: boolean
  site?: SiteShown
  reports?: { site: number; report: string; given: FlatArguments; data: unknown }[]
}

export const boot = JSON.parse(document.getElementById("boot")?.textContent ?? "null") as Boot
