import { type Proof, parseProof } from "../domain/sign-in-input.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import type { Audit } from "./audit.ts"
import { type Self, sessionDeed } from "./own-account.ts"
import type { Passkeys } from "./passkeys.ts"
import type { SecondFactors } from "./second-factors.ts"
import type { Sessions } from "./sessions.ts"
import { invalidCode, invalidCredentials, type SignIn } from "./sign-in.ts"
import type { NoteFailure } from "./sign-in-failures.ts"
import type { SignInLimits } from "./sign-in-limits.ts"

/** Proving again who one is, for what a session that was left open must not do. It holds for ten minutes. */
export interface Proofs {
  /**
   * The body has `password`, `code`, or what a passkey has answered. The session goes on under a new token, which is returned.
   * Throws `invalid_credentials`, `invalid_code`, `rate_limited`.
   */
  prove(self: Self, body: unknown): Promise<string>
}

interface ProofsOptions {
  catalog: Catalog
  audit: Audit
  sessions: Sessions
  signIn: SignIn
  factors: SecondFactors
  limits: SignInLimits
  noteFailure: NoteFailure
  passkeys: Pick<Passkeys, "verify">
}

export function createProofs(options: ProofsOptions): Proofs {
  const { catalog, audit, sessions, signIn, factors, limits, noteFailure, passkeys } = options

  async function judge(self: Self, proof: Proof): Promise<void> {
    if ("password" in proof) {
      if (!(await signIn.verifies(self.user, proof.password, self))) throw invalidCredentials()
    } else if ("code" in proof) await judgeCode(self, proof.code)
    else {
      const { userId } = await passkeys.verify(proof, self)
      if (userId !== self.user.id) throw invalidCredentials()
    }
  }

  async function judgeCode({ user, origin, actor }: Self, code: string): Promise<void> {
    const attempt = limits.code(origin, user.id)
    const { use } = await factors.prepare(user, { code })
    if (await catalog.transaction(use)) return attempt.succeed()
    await noteFailure(actor, "accounts.session.prove", user.email)
    throw invalidCode()
  }

  return {
    async prove(self, body) {
      await judge(self, parseProof(body))
      const { session, actor } = self
      return catalog.transaction(async (statements) => {
        const token = await sessions.prove(statements, session.id)
        await audit.write(statements, actor, sessionDeed("accounts.session.prove", session.id))
        return token
      })
    },
  }
}
