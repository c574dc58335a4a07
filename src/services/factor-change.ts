import type { Deed } from "../domain/audit.ts"
import { AppError } from "../domain/error.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import { replaceRecoveryCodes } from "../store/catalog/second-factors.ts"
import type { Audit } from "./audit.ts"
import type { Self } from "./own-account.ts"
import type { SecondFactors } from "./second-factors.ts"
import type { Sessions } from "./sessions.ts"

/** What changes of the own second factors have in common; in the transaction of the change. */
export interface FactorChange {
  /** Ends all other sessions, and writes the row of the log. */
  changed(statements: Statements, self: Self, deed: Deed): Promise<void>
  /**
   * Codes for emergencies stand in for a factor: without one there is nothing to stand in for. Throws `mfa_required_by_policy`
   * where one has to be left.
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
    async changed(statements, { user, session, actor }, deed) {
      await sessions.revokeAll(statements, user.id, session.id)
      await audit.write(statements, actor, deed)
    },
    async dropOrphanedCodes(statements, { user }) {
      const left = await factors.of(user, statements)
      if (left.totp || left.passkeys > 0) return
      if (await factors.isWanted(user, statements)) throw requiredByPolicy()
      await replaceRecoveryCodes(statements, user.id, [])
    },
  }
}

const requiredByPolicy = () => new AppError("mfa_required_by_policy", "Add another second factor before you take the last one away.")
