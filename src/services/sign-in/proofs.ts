import { type Proof, parseProof } from "../../domain/sign-in-input.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { type Audit, sessionEntry } from "../audit/audit.ts"
import type { Passkeys } from "./passkeys.ts"
import type { SecondFactors } from "./second-factors.ts"
import type { Self, Sessions } from "./sessions.ts"
import { invalidCredentials, type SignIn } from "./sign-in.ts"

/** Confirmation of a signed-in user's identity before sensitive actions. A confirmation is valid for 10 minutes. */
export interface Proofs {
  /**
   * Confirms the user's identity and returns the new token of the session. The body has `password`, `code` or the response of a passkey.
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
  passkeys: Pick<Passkeys, "verify">
}

export function createProofs(options: ProofsOptions): Proofs {
  const { catalog, audit, sessions, signIn, factors, passkeys } = options

  async function judge(self: Self, proof: Proof): Promise<void> {
    if ("password" in proof) {
      if (!(await signIn.verifies(self.user, proof.password, self))) throw invalidCredentials()
    } else if ("code" in proof) await judgeCode(self, proof.code)
    else {
      const { userId } = await passkeys.verify(proof, self)
      if (userId !== self.user.id) throw invalidCredentials()
    }
  }

  async function judgeCode(self: Self, code: string): Promise<void> {
    await signIn.judgeCode({ user: self.user, guest: self, step: "accounts.session.prove" }, async () => {
      const { use } = await factors.prepare(self.user, { code })
      return (await catalog.transaction(use)) ? self : undefined
    })
  }

  return {
    async prove(self, body) {
      await judge(self, parseProof(body))
      const { session, actor } = self
      return catalog.transaction(async (statements) => {
        const token = await sessions.prove(statements, session.id)
        await audit.write(statements, actor, sessionEntry("accounts.session.prove", session.id))
        return token
      })
    },
  }
}
