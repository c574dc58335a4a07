import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { API } from "../../domain/limits.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  deleteIdempotentAnswer,
  deleteIdempotentAnswers,
  deleteIdempotentParts,
  findIdempotentAnswer,
  type IdempotentAnswer,
  insertIdempotentAnswer,
  partScope,
} from "../../store/catalog/idempotent-answers.ts"
import type { Secrets } from "../secrets/secrets.ts"

/** A stored response: of a creation or an error. */
export type StoredResponse = Omit<IdempotentAnswer, "body_hash">

/** The right of the first request with an idempotency key to store its response. */
export interface Claim {
  /**
   * Stores the response in the transaction of the change, so that a crash leaves both or neither. Throws `idempotency_in_progress`, so that
   * nothing changes, if another node has stored the response to the same request.
   */
  keep(statements: Statements, answer: StoredResponse): Promise<void>
  /** Stores the response of a request that changed nothing, in a transaction of its own. */
  keepAlone(answer: StoredResponse): Promise<void>
  /**
   * Returns the parts that an interrupted request with this key has stored. Throws `idempotency_key_reused` if that request had another
   * body.
   */
  parts(): Promise<string[]>
  /** Stores a part of a long response, numbered from 0, in the transaction of its change. Parts expire like responses. */
  keepPart(statements: Statements, part: number, text: string): Promise<void>
  /** Ends the request. Must be called in any case, also after an error. */
  release(): void
}

/** Idempotent requests, which a client can safely repeat (api.md 4.6). Responses are stored for 24 hours. */
export interface Idempotency {
  /**
   * Returns the stored response of an earlier request, or a claim for the first one. Throws `idempotency_key_reused` if the key was used
   * with another body, `idempotency_in_progress` while the first request runs. `scope` separates clients and routes: API key, method and
   * path.
   */
  begin(scope: string, key: string, body: Uint8Array): Promise<{ kept: StoredResponse } | { claim: Claim }>
}

interface IdempotencyOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  /** Responses are encrypted, because some contain a secret. */
  secrets: Secrets
}

const RETENTION_MS = API.idempotencyHours * 3_600_000
/** Number of expired responses that each new one deletes. */
const DELETE_BATCH = 10

export function createIdempotency({ catalog, clock, secrets }: IdempotencyOptions): Idempotency {
  /** Body hashes of the running requests. */
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

  /** Returns a stored response. One that was encrypted with another secret key is deleted. */
  async function find(scope: string, key: string): Promise<IdempotentAnswer | undefined> {
    const found = await findIdempotentAnswer(catalog, { scope, key, since: clock.now() - RETENTION_MS })
    const body = found && secrets.open(Uint8Array.fromBase64(found.body), answerPlace(scope, key, "answer"))
    const body_hash = found && secrets.open(found.body_hash, answerPlace(scope, key, "body hash"))
    if (found && body && body_hash) return { ...found, body_hash, body: new TextDecoder().decode(body) }
    if (found) await deleteIdempotentAnswer(catalog, { scope, key })
    return undefined
  }

  function claimOf({ scope, key, body_hash }: { scope: string; key: string; body_hash: Uint8Array }, release: () => void): Claim {
    async function put(statements: Statements, place: string, answer: StoredResponse): Promise<void> {
      const now = clock.now()
      await deleteIdempotentAnswers(statements, now - RETENTION_MS, DELETE_BATCH)
      const body = secrets.seal(new TextEncoder().encode(answer.body), answerPlace(place, key, "answer")).toBase64()
      // Some bodies contain a password, which could be guessed from an unencrypted hash.
      const sealed = secrets.seal(body_hash, answerPlace(place, key, "body hash"))
      const since = now - RETENTION_MS
      if (!(await insertIdempotentAnswer(statements, { scope: place, key, now, since }, { ...answer, body, body_hash: sealed })))
        throw inProgress()
    }
    return {
      keep: (statements, answer) => put(statements, scope, answer),
      keepAlone: (answer) => catalog.transaction((statements) => put(statements, scope, answer)),
      async parts() {
        const texts: string[] = []
        for (;;) {
          const part = await find(partScope(scope, texts.length), key)
          if (!part) break
          if (part.body_hash.toHex() !== body_hash.toHex()) throw reused()
          texts.push(part.body)
        }
        // If the first parts have expired, later parts of that request must not be mixed with those of this one.
        if (texts.length === 0) await deleteIdempotentParts(catalog, { scope, key })
        return texts
      },
      keepPart: (statements, part, text) => put(statements, partScope(scope, part), { status: 200, headers: {}, body: text }),
      release,
    }
  }
}

/** Returns the place that a stored body or body hash is encrypted for. */
export const answerPlace = (scope: string, key: string, purpose: "answer" | "body hash") => ({
  table: "idempotent_answers",
  row: `${scope} ${key}`,
  purpose,
})

const inProgress = () =>
  new AppError("idempotency_in_progress", "The first request with this Idempotency-Key is still being processed. Try again in a second.")
const reused = () =>
  new AppError("idempotency_key_reused", "This Idempotency-Key was already used with another body. Use a new key for a different request.")
