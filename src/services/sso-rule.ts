import { AppError } from "../domain/error.ts"
import type { User } from "../domain/user.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { isSsoWanted } from "../store/catalog/memberships.ts"
import { hasOwnProvider, hasOwnWayIn } from "../store/catalog/oidc-providers.ts"
import { organizationById } from "../store/catalog/organizations.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import type { Person } from "./sessions.ts"

/** How somebody would come in: by what is theirs, such as a password, or by the provider of the whole instance. */
export type Way = "own" | "instance_provider"

/**
 * Who has to come in by an identity provider. An organization may want it of its members, but for the owners it names; one with
 * a provider of its own wants that one. The instance may want it of everybody but its admins, who are needed where the provider
 * is out of order; without a provider of the instance that wish has no effect.
 */
export interface SsoRule {
  isWanted(user: Pick<User, "id" | "is_instance_admin">, way: Way, statements?: Statements): Promise<boolean>
  /** Throws `sso_required`. */
  refuse(user: Pick<User, "id" | "is_instance_admin">, way: Way): Promise<void>
  /**
   * Whether an open session reaches an organization: one that somebody could not open any more, because the organization has
   * made up its mind since or because they have joined it since, does not.
   */
  letsIn(person: Pick<Person, "user" | "session">, organizationId: number, statements?: Statements): Promise<boolean>
}

interface SsoRuleOptions {
  catalog: Catalog
  settings: Pick<InstanceSettings, "get">
  /** Whether the operator has named a provider of the whole instance. */
  hasInstanceProvider: boolean
}

export function createSsoRule({ catalog, settings, hasInstanceProvider }: SsoRuleOptions): SsoRule {
  async function judge(user: Pick<User, "id" | "is_instance_admin">, way: Way, statements: Statements, organizationId?: number) {
    if (way === "own" && settings.get("sso_only") && hasInstanceProvider && !user.is_instance_admin) return true
    return isSsoWanted(statements, user.id, {
      byOwnProvider: way === "instance_provider",
      ...(organizationId !== undefined && { organizationId }),
    })
  }
  const isWanted: SsoRule["isWanted"] = (user, way, statements = catalog) => judge(user, way, statements)
  return {
    isWanted,
    async letsIn({ user, session }, organizationId, statements = catalog) {
      // An organization's own provider has opened it, and it reaches nothing else; or an instance admin acts for the user.
      if (session.organization_id !== null || session.impersonator_id !== null) return true
      const way = session.method === "oidc" ? "instance_provider" : "own"
      return !(await judge(user, way, statements, organizationId))
    },
    async refuse(user, way) {
      if (await isWanted(user, way)) throw ssoRequired()
    },
  }
}

/**
 * After a change, in its transaction: throws `provider_required` when an organization wants its members to come by a provider
 * and none lets them in.
 */
export async function refuseLockOut(statements: Statements, organizationId: number, hasInstanceProvider: boolean): Promise<void> {
  const organization = await organizationById(statements, organizationId)
  const { isEnforced, isOn } = await hasOwnProvider(statements, organizationId)
  if (!organization?.policy.sso_only && !isEnforced) return
  if (await hasOwnWayIn(statements, organizationId)) return
  // That of the instance lets in members of whoever has none of its own.
  if (hasInstanceProvider && !isOn) return
  throw new AppError(
    "provider_required",
    "Members come in through an identity provider alone (`sso_only`): one that is on, and a proved domain, must stay.",
  )
}

export const ssoRequired = () => new AppError("sso_required", "Sign in through the identity provider: your organization wants it so.")
