import type { AuditEntry } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { replaceRecoveryCodes } from "../../store/catalog/second-factors.ts"
import type { Audit } from "../audit/audit.ts"
import type { SecondFactors } from "./second-factors.ts"
import type { Self, Sessions } from "./sessions.ts"

/** The steps that all changes to a user's own second factors share. They run in the transaction of the change. */
export interface FactorChange {
  /** Ends all other sessions and writes the audit entry. */
  changed(statements: Statements, self: Self, entry: AuditEntry): Promise<void>
  /**
   * Deletes the recovery codes if no second factor is left, because they only stand in for one. Throws `mfa_required_by_policy` if the user
   * must keep a factor.
   */
  dropOrphanedCodes(statements: Statements, self: Self): Promise<void>
}

export interface FactorChangeOptions {
  audit: Audit
  sessions: Sessions
  factors: SecondFactors
}

export function factorChange({ audit, sessions, factors }: FactorChangeOptions): FactorChange {
  return {
    async changed(statements, { user, session, actor }, entry) {
      await sessions.revokeAll(statements, user.id, session.id)
      await audit.write(statements, actor, entry)
    },
    async dropOrphanedCodes(statements, { user }) {
      const left = await factors.of(user, statements)
      if (left.totp || left.passkeys > 0) return
      if (await factors.isRequired(user, statements)) throw requiredByPolicy()
      await replaceRecoveryCodes(statements, user.id, [])
    },
  }
}

const requiredByPolicy = () =>
  new AppError("mfa_required_by_policy", "Two-factor authentication is required. Add another second factor before you remove the last one.")
