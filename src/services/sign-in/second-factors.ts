import type { Session } from "../domain/session.ts"
import type { User } from "../domain/user.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { type Factors, factorsOf, isFactorWanted } from "../store/catalog/second-factors.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import type { RecoveryCodes } from "./recovery-codes.ts"
import type { Totp } from "./totp.ts"

export type { Factors }

/** What somebody types as a second factor. */
export type TypedFactor = { code: string } | { recovery_code: string }

/** What of a session says whether a factor was shown. */
export type FactorSession = Pick<Session, "method" | "mfa" | "organization_id">

/** What users have beside their password, and whether somebody asks for it. */
export interface SecondFactors {
  of(user: Pick<User, "id">, statements?: Statements): Promise<Factors>
  /**
   * Whether the instance or an organization of the user wants a second factor that the user has not. An identity provider that
   * has asked for one stands in for it; and where an organization's own provider has opened the session, how far it goes is
   * between the two: the account's factors are not this session's to add.
   */
  isMissing(user: Pick<User, "id" | "is_instance_admin">, session: FactorSession): Promise<boolean>
  /** Whether the last factor must stay. */
  isWanted(user: Pick<User, "id" | "is_instance_admin">, statements?: Statements): Promise<boolean>
  /**
   * Does what is slow about judging a code. `use` then uses it up in the caller's transaction, and is false for a wrong or used
   * one.
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
  const isWantedByInstance = ({ is_instance_admin }: Pick<User, "is_instance_admin">): boolean => {
    const wanted = settings.get("require_mfa")
    return wanted === "all" || (wanted === "admins" && is_instance_admin)
  }
  const isWanted: SecondFactors["isWanted"] = async (user, statements = catalog) =>
    isWantedByInstance(user) || isFactorWanted(statements, user.id)
  return {
    of: ({ id }, statements = catalog) => factorsOf(statements, id),
    isWanted,
    async isMissing(user, { method, mfa, organization_id }) {
      if (method === "oidc" && mfa) return false
      if (!(organization_id === null ? await isWanted(user) : isWantedByInstance(user))) return false
      const { totp: hasTotp, passkeys } = await factorsOf(catalog, user.id)
      return !hasTotp && passkeys === 0
    },
    async prepare({ id }, typed) {
      if ("code" in typed) return { use: (statements) => totp.use(statements, id, typed.code) }
      return (await recoveryCodes.find(id, typed.recovery_code)) ?? { use: async () => false }
    },
  }
}
