import type { Session } from "../../domain/session.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { type Factors, factorsOf, isFactorRequired } from "../../store/catalog/second-factors.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { RecoveryCodes } from "./recovery-codes.ts"
import type { Totp } from "./totp.ts"

export type { Factors }

/** A code that a user enters as second factor. */
export type TypedFactor = { code: string } | { recovery_code: string }

/** The fields of a session that decide whether a second factor was used. */
export type FactorSession = Pick<Session, "method" | "mfa" | "organization_id">

/** The second factors of users, and the policies that require them. */
export interface SecondFactors {
  of(user: Pick<User, "id">, statements?: Statements): Promise<Factors>
  /**
   * Whether the instance or an organization requires a second factor that the user does not have. An identity provider that has asked for
   * one satisfies the requirement. In a session of an organization's own provider only the instance's policy counts, because such a
   * session cannot add factors to the account.
   */
  isMissing(user: Pick<User, "id" | "is_instance_admin">, session: FactorSession): Promise<boolean>
  /** Whether a policy requires the user to keep a second factor. */
  isRequired(user: Pick<User, "id" | "is_instance_admin">, statements?: Statements): Promise<boolean>
  /**
   * Does the slow part of checking a code. `use` then uses it up in the caller's transaction and returns false for a wrong or used code.
   */
  prepare(user: Pick<User, "id">, typed: TypedFactor): Promise<{ use(statements: Statements): Promise<boolean> }>
}

interface SecondFactorsOptions {
  catalog: Catalog
  settings: Pick<InstanceSettings, "get">
  totp: Totp
  recoveryCodes: RecoveryCodes
}

export function createSecondFactors({ catalog, settings, totp, recoveryCodes }: SecondFactorsOptions): SecondFactors {
  const isRequiredByInstance = ({ is_instance_admin }: Pick<User, "is_instance_admin">): boolean => {
    const wanted = settings.get("require_mfa")
    return wanted === "all" || (wanted === "admins" && is_instance_admin)
  }
  const isRequired: SecondFactors["isRequired"] = async (user, statements = catalog) =>
    isRequiredByInstance(user) || isFactorRequired(statements, user.id)
  return {
    of: ({ id }, statements = catalog) => factorsOf(statements, id),
    isRequired,
    async isMissing(user, { method, mfa, organization_id }) {
      if (method === "oidc" && mfa) return false
      if (!(organization_id === null ? await isRequired(user) : isRequiredByInstance(user))) return false
      const { totp: hasTotp, passkeys } = await factorsOf(catalog, user.id)
      return !hasTotp && passkeys === 0
    },
    async prepare({ id }, typed) {
      if ("code" in typed) return { use: (statements) => totp.use(statements, id, typed.code) }
      return (await recoveryCodes.find(id, typed.recovery_code)) ?? { use: async () => false }
    },
  }
}
