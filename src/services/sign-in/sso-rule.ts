import { AppError } from "../../domain/error.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { isSsoRequired } from "../../store/catalog/members.ts"
import { hasOwnProvider, hasOwnSignIn } from "../../store/catalog/oidc.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { Person } from "./sessions.ts"

/** The kind of credentials of a sign-in: the user's own, such as a password, or the identity provider of the whole instance. */
export type CredentialSource = "own" | "instance_provider"

/**
 * The rules that require single sign-on. An organization can require it of its members, with named owners excepted; if it has a provider
 * of its own, it requires that one. The instance can require it of all users except instance admins, who must be able to sign in when
 * the provider fails. Without a provider of the instance its rule has no effect.
 */
export interface SsoRule {
  isRequired(user: Pick<User, "id" | "is_instance_admin">, source: CredentialSource, statements?: Statements): Promise<boolean>
  /** Throws `sso_required` if the user must use single sign-on. */
  refuse(user: Pick<User, "id" | "is_instance_admin">, source: CredentialSource): Promise<void>
  /**
   * Whether an open session has access to an organization. It has none if it could not be opened now, because the organization has since
   * required single sign-on or the user has joined it since.
   */
  letsIn(person: Pick<Person, "user" | "session">, organizationId: number, statements?: Statements): Promise<boolean>
}

interface SsoRuleOptions {
  catalog: Catalog
  settings: Pick<InstanceSettings, "get">
  /** Whether the operator has configured an identity provider for the whole instance. */
  hasInstanceProvider: boolean
}

export function createSsoRule({ catalog, settings, hasInstanceProvider }: SsoRuleOptions): SsoRule {
  async function judge(
    user: Pick<User, "id" | "is_instance_admin">,
    source: CredentialSource,
    statements: Statements,
    organizationId?: number,
  ) {
    if (source === "own" && settings.get("sso_only") && hasInstanceProvider && !user.is_instance_admin) return true
    return isSsoRequired(statements, user.id, {
      byOwnProvider: source === "instance_provider",
      ...(organizationId !== undefined && { organizationId }),
    })
  }
  const isRequired: SsoRule["isRequired"] = (user, source, statements = catalog) => judge(user, source, statements)
  return {
    isRequired,
    async letsIn({ user, session }, organizationId, statements = catalog) {
      // The session was opened by an organization's own provider and is limited to that organization, or it is an impersonation.
      if (session.organization_id !== null || session.impersonator_id !== null) return true
      const source = session.method === "oidc" ? "instance_provider" : "own"
      return !(await judge(user, source, statements, organizationId))
    },
    async refuse(user, source) {
      if (await isRequired(user, source)) throw ssoRequired()
    },
  }
}

/**
 * Throws `provider_required` if an organization requires single sign-on and no provider is left that its members can use. Call it after a
 * change, in its transaction.
 */
export async function refuseLockOut(statements: Statements, organizationId: number, hasInstanceProvider: boolean): Promise<void> {
  const organization = await organizationById(statements, organizationId)
  const { isEnforced, isOn } = await hasOwnProvider(statements, organizationId)
  if (!organization?.policy.sso_only && !isEnforced) return
  if (await hasOwnSignIn(statements, organizationId)) return
  // The instance's provider serves organizations that have no active provider of their own.
  if (hasInstanceProvider && !isOn) return
  throw new AppError(
    "provider_required",
    "Members must use single sign-on (`sso_only`), which needs an active identity provider and a verified domain. Keep both, or turn off `sso_only` first.",
  )
}

export const ssoRequired = () => new AppError("sso_required", "Single sign-on is required here. Sign in with the identity provider.")
