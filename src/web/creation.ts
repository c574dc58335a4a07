import { AppError, type ErrorCode } from "../domain/error.ts"
import type { ApiKey } from "../domain/key.ts"
import type { Idempotency, StoredResponse } from "../services/api-keys/idempotency.ts"
import type { Alongside } from "../services/definitions/site-things.ts"
import type { SentJson } from "./body.ts"

/** Parts of a request that a creation needs. The caller is an API key or a signed-in user. */
export interface Creating {
  apiKey?: ApiKey
  user?: { id: number }
  request: Request
  body: SentJson
  set: { headers: Record<string, string | number>; status?: number | string }
}

/** Response for a created or changed resource. */
export interface Created<Body> {
  /** HTTP status. Default: 201. Others if nothing was created or a job was only started. */
  status?: 200 | 201 | 202
  /** URL of a new resource. */
  location?: string
  /** ETag of a versioned resource. */
  etag?: string
  body: Body
}

/**
 * Creates a resource and responds with 201, `Location` and `ETag`. With `Idempotency-Key`, resource and response are stored in one
 * transaction, and a repeated request gets that response. Validation errors are stored, too; `statusOf` identifies them.
 */
export const creation =
  (idempotency: Idempotency, statusOf: (code: ErrorCode) => number) =>
  async <Thing, Body>(
    call: Creating,
    create: (body: unknown, alongside?: Alongside<Thing>) => Promise<Thing>,
    toCreated: (thing: Thing) => Created<Body>,
  ): Promise<Body> => {
    const { value, bytes } = call.body
    const key = idempotencyKey(call.request)
    if (key === undefined) return answer(call, toCreated(await create(value)))

    const begun = await idempotency.begin(scopeOf(call), key, bytes)
    if ("kept" in begun) return replay<Body>(call, begun.kept)
    const { claim } = begun
    try {
      const thing = await create(value, (statements, { after }) => claim.keep(statements, storedCreation(toCreated(after!))))
      return answer(call, toCreated(thing))
    } catch (error) {
      const refusal = storedRefusal(error, statusOf)
      if (refusal) await claim.keepAlone(refusal)
      throw error
    } finally {
      claim.release()
    }
  }

/** Progress of a batch, stored with its rows. */
export interface BatchKeeping<Outcome> {
  /** Outcomes of the rows that an interrupted request with the same `Idempotency-Key` has written. */
  readonly done: readonly Outcome[]
  /** Stores the outcomes of rows, starting at an index, in the transaction that writes them. Can run again for the same rows. */
  keep(statements: Parameters<Alongside<unknown>>[0], from: number, outcomes: readonly Outcome[]): Promise<void>
}

/**
 * Writes many rows and responds with 200. With `Idempotency-Key`, the outcome of each row is stored in the transaction of the row. A
 * repeated request gets the same response, or continues after the last written row if the first request was interrupted.
 */
export const batchCreation =
  (idempotency: Idempotency, statusOf: (code: ErrorCode) => number) =>
  async <Outcome, Body>(call: Creating, write: (body: unknown, keeping: BatchKeeping<Outcome>) => Promise<Body>): Promise<Body> => {
    const { value, bytes } = call.body
    const key = idempotencyKey(call.request)
    if (key === undefined) return answer(call, { status: 200, body: await write(value, { done: [], keep: async () => {} }) })

    const begun = await idempotency.begin(scopeOf(call), key, bytes)
    if ("kept" in begun) return replay<Body>(call, begun.kept)
    const { claim } = begun
    try {
      const before = await claim.parts()
      const done = before.flatMap((part) => JSON.parse(part) as Outcome[]) // stored by `keep` below
      /** Numbers of the stored parts by their first row. A transaction that finds the store locked runs again. */
      const parts = new Map<number, number>()
      const keep: BatchKeeping<Outcome>["keep"] = (statements, from, outcomes) => {
        const part = parts.get(from) ?? before.length + parts.size
        parts.set(from, part)
        return claim.keepPart(statements, part, JSON.stringify(outcomes))
      }
      const created = { status: 200 as const, body: await write(value, { done, keep }) }
      await claim.keepAlone(storedCreation(created))
      // Storing and sending a long response take some milliseconds each.
      await Bun.sleep(0)
      return answer(call, created)
    } catch (error) {
      const refusal = storedRefusal(error, statusOf)
      if (refusal && !isReused(error)) await claim.keepAlone(refusal)
      throw error
    } finally {
      claim.release()
    }
  }

const isReused = (error: unknown): boolean => error instanceof AppError && error.code === "idempotency_key_reused"

function idempotencyKey({ headers }: Request): string | undefined {
  const key = headers.get("idempotency-key") ?? undefined
  if (key !== undefined && !/^[!-~]{1,255}$/.test(key))
    throw new AppError("invalid_header", "Idempotency-Key must be 1 to 255 visible ASCII characters.")
  return key
}

const scopeOf = ({ apiKey, user, request }: Creating): string =>
  `${apiKey?.id ?? `user ${user?.id}`} ${request.method} ${new URL(request.url).pathname.replace(/\/$/, "")}`

function answer<Body>({ set }: Creating, { status = 201, body, ...created }: Created<Body>): Body {
  set.status = status
  Object.assign(set.headers, headersOf(created))
  return body
}

const storedCreation = <Body>({ status = 201, body, ...created }: Created<Body>): StoredResponse => ({
  status,
  headers: headersOf(created),
  body: JSON.stringify(body),
})

const headersOf = ({ location, etag }: Pick<Created<unknown>, "location" | "etag">) => ({
  ...(location !== undefined && { location }),
  ...(etag !== undefined && { etag }),
})

/** Returns the response to store for an error that the content caused. Other errors can disappear on a retry and are not stored. */
function storedRefusal(error: unknown, statusOf: (code: ErrorCode) => number): StoredResponse | undefined {
  if (!(error instanceof AppError)) return undefined
  const status = statusOf(error.code)
  if (status !== 409 && status !== 422) return undefined
  return { status, headers: {}, body: JSON.stringify({ code: error.code, detail: error.message, members: error.members }) }
}

/** Returns a stored response. Throws stored errors again, so that they contain the id of the current request. */
function replay<Body>({ set }: Creating, { status, headers, body }: StoredResponse): Body {
  set.headers["idempotency-replayed"] = "true"
  const stored = JSON.parse(body) // written above
  if (status >= 400) throw new AppError(stored.code, stored.detail, stored.members)
  set.status = status
  Object.assign(set.headers, headers)
  return stored
}
