import { AppError, type ErrorCode } from "../domain/error.ts"
import type { ApiKey } from "../domain/key.ts"
import type { Idempotency, KeptAnswer } from "../services/idempotency.ts"
import type { Alongside } from "../services/site-things.ts"
import type { SentJson } from "./body.ts"

/** What of a request a creation needs. It comes with a key, or from somebody who is signed in. */
export interface Creating {
  apiKey?: ApiKey
  user?: { id: number }
  request: Request
  body: SentJson
  set: { headers: Record<string, string | number>; status?: number | string }
}

/** How a new thing is answered, or one that work was done on. */
export interface Created<Shown> {
  /** 201, unless nothing new was made, or its making has only begun. */
  status?: 200 | 201 | 202
  /** Of a new thing. */
  location?: string
  /** Of a thing that counts its changes. */
  etag?: string
  body: Shown
}

/**
 * Makes a thing and answers 201 with `Location` and `ETag`. With `Idempotency-Key` the thing and its answer are stored in one
 * transaction, and a request that comes again gets that answer; refusals of the content are kept too. `statusOf` tells which ones
 * they are.
 */
export const creation =
  (idempotency: Idempotency, statusOf: (code: ErrorCode) => number) =>
  async <Thing, Shown>(
    call: Creating,
    make: (body: unknown, alongside?: Alongside<Thing>) => Promise<Thing>,
    show: (thing: Thing) => Created<Shown>,
  ): Promise<Shown> => {
    const { value, bytes } = call.body
    const key = idempotencyKey(call.request)
    if (key === undefined) return answer(call, show(await make(value)))

    const begun = await idempotency.begin(scopeOf(call), key, bytes)
    if ("kept" in begun) return replay<Shown>(call, begun.kept)
    const { claim } = begun
    try {
      const thing = await make(value, (statements, { after }) => claim.keep(statements, keptCreation(show(after!))))
      return answer(call, show(thing))
    } catch (error) {
      const refusal = keptRefusal(error, statusOf)
      if (refusal) await claim.keepAlone(refusal)
      throw error
    } finally {
      claim.release()
    }
  }

function idempotencyKey({ headers }: Request): string | undefined {
  const key = headers.get("idempotency-key") ?? undefined
  if (key !== undefined && !/^[!-~]{1,255}$/.test(key))
    throw new AppError("invalid_header", "Idempotency-Key must be 1 to 255 visible ASCII characters.")
  return key
}

const scopeOf = ({ apiKey, user, request }: Creating): string =>
  `${apiKey?.id ?? `user ${user?.id}`} ${request.method} ${new URL(request.url).pathname.replace(/\/$/, "")}`

function answer<Shown>({ set }: Creating, { status = 201, body, ...created }: Created<Shown>): Shown {
  set.status = status
  Object.assign(set.headers, headersOf(created))
  return body
}

const keptCreation = <Shown>({ status = 201, body, ...created }: Created<Shown>): KeptAnswer => ({
  status,
  headers: headersOf(created),
  body: JSON.stringify(body),
})

const headersOf = ({ location, etag }: Pick<Created<unknown>, "location" | "etag">) => ({
  ...(location !== undefined && { location }),
  ...(etag !== undefined && { etag }),
})

/** Of what was wrong with the content itself; another try may pass what else went wrong. */
function keptRefusal(error: unknown, statusOf: (code: ErrorCode) => number): KeptAnswer | undefined {
  if (!(error instanceof AppError)) return undefined
  const status = statusOf(error.code)
  if (status !== 409 && status !== 422) return undefined
  return { status, headers: {}, body: JSON.stringify({ code: error.code, detail: error.message, members: error.members }) }
}

/** A refusal is thrown again: its answer then has the id of the request it answers. */
function replay<Shown>({ set }: Creating, { status, headers, body }: KeptAnswer): Shown {
  set.headers["idempotency-replayed"] = "true"
  const kept = JSON.parse(body) // written above
  if (status >= 400) throw new AppError(kept.code, kept.detail, kept.members)
  set.status = status
  Object.assign(set.headers, headers)
  return kept
}
