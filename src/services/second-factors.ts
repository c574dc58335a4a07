import type { User } from "../domain/user.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { type Factors, factorsOf, isFactorWanted } from "../store/catalog/second-factors.ts"
import type { InstanceSettings } from "./instance-settings.ts"

/** What users have beside their password, and whether somebody asks for it. */
export interface SecondFactors {
  of(user: Pick<User, "id">): Promise<Factors>
  /** Whether the instance or an organization of the user wants a second factor that the user has not. */
  isMissing(user: Pick<User, "id" | "is_instance_admin">): Promise<boolean>
  /** Whether the last factor must stay. */
  isWanted(user: Pick<User, "id" | "is_instance_admin">): Promise<boolean>
}

export function createSecondFactors({ catalog, settings }: { catalog: Catalog; settings: Pick<InstanceSettings, "get"> }): SecondFactors {
  async function isWanted({ id, is_instance_admin }: Pick<User, "id" | "is_instance_admin">): Promise<boolean> {
    const wanted = settings.get("require_mfa")
    return wanted === "all" || (wanted === "admins" && is_instance_admin) || isFactorWanted(catalog, id)
  }
  return {
    of: ({ id }) => factorsOf(catalog, id),
    isWanted,
    async isMissing(user) {
      if (!(await isWanted(user))) return false
      const { totp, passkeys } = await factorsOf(catalog, user.id)
      return !totp && passkeys === 0
    },
  }
}
