import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { API } from "../domain/limits.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import {
  deleteIdempotentAnswers,
  findIdempotentAnswer,
  type IdempotentAnswer,
  insertIdempotentAnswer,
} from "../store/catalog/idempotent-answers.ts"
import type { Secrets } from "./secrets.ts"

/** An answer as it is kept: of a thing that was made, or of a refusal. */
export type KeptAnswer = Omit<IdempotentAnswer, "body_hash">

/** The first request of a key. */
export interface Claim {
  /** Keeps its answer, in the transaction that makes the thing: a crash leaves both or neither. */
  keep(statements: Statements, answer: KeptAnswer): Promise<void>
  /** The same for an answer that comes without a change. */
  keepAlone(answer: KeptAnswer): Promise<void>
  /** Must be called at the end, whatever it was. */
  release(): void
}

/** Requests that a caller may send again without their doing anything twice (api.md 4.6). Answers are kept for 24 hours. */
export interface Idempotency {
  /**
   * The kept answer to a request that came before, or the claim of the first one. Throws `idempotency_key_reused` for another
   * body under the same key, `idempotency_in_progress` while the first one runs.
   *
   * `scope` is whatever tells apart who asks for what: API key, method and path.
   */
  begin(scope: string, key: string, body: Uint8Array): Promise<{ kept: KeptAnswer } | { claim: Claim }>
}

interface IdempotencyOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  /** Answers are kept sealed: some show a secret this once. */
  secrets: Secrets
}

const KEPT_MS = API.idempotencyHours * 3_600_000
/** Old answers that each new one takes with it. */
const FORGOTTEN_AT_ONCE = 10

export function createIdempotency({ catalog, clock, secrets }: IdempotencyOptions): Idempotency {
  /** The bodies' hashes of requests that are running. */
  const running = new Map<string, string>()

  return {
    async begin(scope, key, body) {
      const body_hash = new Uint8Array(new Bun.CryptoHasher("sha256").update(body).digest())
      const name = `${key} ${scope}`
      const other = running.get(name)
      if (other !== undefined) throw other === body_hash.toHex() ? inProgress() : reused()
      running.set(name, body_hash.toHex())
      const release = () => void running.delete(name)
      try {
        const found = await find(scope, key)
        if (!found) return { claim: claimOf({ scope, key, body_hash }, release) }
        if (found.body_hash.toHex() !== body_hash.toHex()) throw reused()
        release()
        return { kept: found }
      } catch (error) {
        release()
        throw error
      }
    },
  }

  /** An answer that was sealed with another secret key is none. */
  async function find(scope: string, key: string): Promise<IdempotentAnswer | undefined> {
    const found = await findIdempotentAnswer(catalog, { scope, key, since: clock.now() - KEPT_MS })
    const body = found && secrets.open(Uint8Array.fromBase64(found.body), answerPlace(scope, key, "answer"))
    const body_hash = found && secrets.open(found.body_hash, answerPlace(scope, key, "body hash"))
    return found && body && body_hash && { ...found, body_hash, body: new TextDecoder().decode(body) }
  }

  function claimOf({ scope, key, body_hash }: { scope: string; key: string; body_hash: Uint8Array }, release: () => void): Claim {
    const keep: Claim["keep"] = async (statements, answer) => {
      const now = clock.now()
      await deleteIdempotentAnswers(statements, now - KEPT_MS, FORGOTTEN_AT_ONCE)
      const body = secrets.seal(new TextEncoder().encode(answer.body), answerPlace(scope, key, "answer")).toBase64()
      // Some bodies hold a password, which could be guessed from a plain hash of them.
      const sealed = secrets.seal(body_hash, answerPlace(scope, key, "body hash"))
      await insertIdempotentAnswer(statements, { scope, key, now }, { ...answer, body, body_hash: sealed })
    }
    return { keep, keepAlone: (answer) => catalog.transaction((statements) => keep(statements, answer)), release }
  }
}

/** Where the two parts of a kept answer are sealed. */
export const answerPlace = (scope: string, key: string, purpose: "answer" | "body hash") => ({
  table: "idempotent_answers",
  row: `${scope} ${key}`,
  purpose,
})

const inProgress = () => new AppError("idempotency_in_progress", "The first request with this Idempotency-Key is still running.")
const reused = () => new AppError("idempotency_key_reused", "The Idempotency-Key was sent before with another body.")
