import type { IntegrationList, IntegrationResponse } from "../../responses.ts"

type Place = Pick<IntegrationResponse, "kind" | "scope">

/** Whether an integration is an account at Google, which all sites of the organization share. */
export const isAccount = ({ kind, scope }: Place): boolean =>
  (kind === "search-console" || kind === "google-analytics") && scope === "organization"

/** Whether an integration is the mapping of a site to a property, not the account itself. */
export const isMapping = ({ kind, scope }: Place): boolean => kind === "search-console" && scope === "site"

/** Codes of failures that a new secret or URL repairs. Anything else is tried again. */
const REPAIRED_BY_SECRET: readonly string[] = [
  ...["removed", "redirected", "secret_unreadable", "blocked_address", "invalid_certificate"],
  ...["needs_reauth", "scope_not_granted", "client_rejected"],
]

export type Remedy = "reconnect" | "retry" | "map"

/** Returns the one action that repairs or completes an integration, if the user may do it. Undefined if there is nothing to do. */
export function remedyOf(
  one: IntegrationResponse,
  { data, organization_permissions }: IntegrationList,
  writes: boolean,
): Remedy | undefined {
  const { status, last_error, can_manage } = one
  const managesOrganization = organization_permissions.includes("integrations:write")
  const isBroken = status === "needs_reauth" || status === "error" || status === "degraded"
  if (!isBroken) {
    const isUnmapped = one.kind === "search-console" && isAccount(one) && !data.some(isMapping)
    return isUnmapped && writes ? "map" : undefined
  }
  const code = last_error?.code ?? ""
  // It goes on by itself when the engine allows requests again, and no sooner.
  if (code === "quota") return undefined
  if (code === "property_lost") return writes ? "map" : undefined
  if (status !== "needs_reauth" && !REPAIRED_BY_SECRET.includes(code)) return can_manage ? "retry" : undefined
  // The account of a mapping is renewed, which belongs to the organization.
  return (isMapping(one) ? managesOrganization : can_manage) ? "reconnect" : undefined
}
