/** The client of the private API: JSON in and out, problems as errors, and a sign-in dialog when the server asks for one. */

import { type Query, QueryClient } from "@tanstack/react-query"
import type { Fault } from "../../domain/error.ts"
import { createStore } from "../browser/store.ts"

/** An error response of the server (`application/problem+json`). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly members: { title?: string; request_id?: string; errors?: Fault[]; retry_after?: number; [name: string]: unknown } = {},
  ) {
    super(detail)
    this.name = "Problem"
  }
}

export interface Sending {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** A `Blob` is sent as it is, with the `content-type` in `headers`; anything else as JSON. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
  /** Whether the request is part of a sign-in. Its failure does not open the sign-in dialog. */
  isSignIn?: boolean
}

/**
 * Sends a request and resolves with the parsed body, or undefined if it is empty. Throws `Problem`, with the code `offline` if the
 * server can't be reached. If the session has ended, or the user must confirm their identity or use an identity provider, asks in a
 * dialog over the page and sends the request again.
 */
export async function send<Result>(path: string, sending: Sending = {}): Promise<Result> {
  return withIdentity(sending, async () => {
    const text = await (await respond(path, sending)).text()
    return (text === "" ? undefined : parse(text)) as Result // the caller states the type of the response
  })
}

/** Number of times that the user has signed in again. */
let signIns = 0

/**
 * Sends a request again after the user has signed in or confirmed their identity, if the server asks for that. A request that was sent
 * before the user signed in again is repeated without asking once more.
 */
export async function withIdentity<Result>({ isSignIn }: Sending, request: () => Promise<Result>): Promise<Result> {
  const before = signIns
  try {
    return await request()
  } catch (error) {
    if (!(error instanceof Problem) || isSignIn) throw error
    if (error.code === "session_required") {
      if (before === signIns) await requestSignIn()
    } else if (error.code === "reauth_required") await requestIdentity()
    else if (error.code === "sso_required") await requestProvider()
    else throw error
    return request()
  }
}

/** Returns a successful response, or throws the problem of another one. */
export async function respond(path: string, { method = "GET", body, headers, signal }: Sending): Promise<Response> {
  const isJson = body !== undefined && !(body instanceof Blob)
  const response = await fetch(path, {
    method,
    headers: { ...(isJson && { "content-type": "application/json" }), accept: "application/json", ...headers },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as Blob) }),
    ...(signal && { signal }),
  }).catch((error) => {
    if (signal?.aborted) throw error
    throw new Problem(0, "offline", "Can't reach the server.")
  })
  if (response.ok) return response
  const { code = "unknown", detail, title, ...members } = (parse(await response.text()) ?? {}) as Record<string, string | undefined>
  const retryAfter = Number(response.headers.get("retry-after"))
  throw new Problem(response.status, code, detail ?? title ?? `The server responded with status ${response.status}.`, {
    ...members,
    ...(title && { title }),
    ...(retryAfter > 0 && { retry_after: retryAfter }),
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const get = <Result>(path: string, signal?: AbortSignal): Promise<Result> => send<Result>(path, signal ? { signal } : {})
export const post = <Result>(path: string, body: unknown, sending: Sending = {}): Promise<Result> =>
  send<Result>(path, { ...sending, method: "POST", body })
export const put = <Result>(path: string, body: unknown, sending: Sending = {}): Promise<Result> =>
  send<Result>(path, { ...sending, method: "PUT", body })
export const patch = <Result>(path: string, body: unknown, sending: Sending = {}): Promise<Result> =>
  send<Result>(path, { ...sending, method: "PATCH", body })
export const remove = (path: string, sending: Sending = {}): Promise<void> => send<void>(path, { ...sending, method: "DELETE" })

const PAGE_SIZE = 200

/** Fetches all pages of a list. `path` must end in `?` or `&`. */
export async function getAll<Thing>(path: string, signal: AbortSignal): Promise<Thing[]> {
  const all: Thing[] = []
  let cursor: string | null = null
  do {
    const page: { data: Thing[]; next_cursor: string | null } = await get(
      `${path}limit=${PAGE_SIZE}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      signal,
    )
    all.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

/** A request to confirm the user's identity in a dialog: the session has ended, the action needs a recent confirmation, or the organization requires its identity provider. */
export interface IdentityRequest {
  reason: "signed-out" | "proof" | "provider"
  done(): void
  /** Ends the request with a message for the user. */
  cancel(message: string): void
}

/** Thrown when the user cancels the dialog. */
export class Cancelled extends Error {}

/** The open request, shown by `shell/identity-dialog.tsx`. */
export const identityRequest = createStore<IdentityRequest | undefined>(undefined)

let waiting: Promise<void> | undefined

/** Resolves when the user has signed in again. Concurrent requests share one dialog. */
const requestSignIn = (): Promise<void> => openDialog("signed-out").then(() => void signIns++)
/** Resolves when the user has confirmed their identity. Rejects with `Cancelled` if they cancel. */
export const requestIdentity = (): Promise<void> => openDialog("proof")
/** Resolves when the user has signed in through an identity provider. Rejects with `Cancelled` if they cancel. */
const requestProvider = (): Promise<void> => openDialog("provider")

function openDialog(reason: IdentityRequest["reason"]): Promise<void> {
  waiting ??= new Promise<void>((resolve, reject) => {
    identityRequest.set({
      reason,
      done: resolve,
      cancel: (message) => reject(new Cancelled(message)),
    })
  }).finally(() => {
    waiting = undefined
    identityRequest.set(undefined)
  })
  return waiting
}

/** Returns whether an error may be temporary. Other errors are not retried, because the server would refuse again. */
const isTemporary = (error: Error): boolean => error instanceof Problem && (error.status === 503 || error.status === 429)

/** Creates the query client of all screens. */
export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < 2 && isTemporary(error),
        // Without a network, queries fail at once instead of leaving the figures of another query on the page.
        networkMode: "always",
        refetchOnReconnect: true,
      },
    },
  })
  keepFailures(client)
  return client
}

/**
 * Keeps a failed query in the state `error` until it succeeds. The library clears the error at every refetch, so the message would
 * flicker on the screen.
 */
function keepFailures(client: QueryClient): void {
  const failures = new WeakMap<Query, Error>()
  client.getQueryCache().subscribe((event) => {
    if (event.type !== "updated") return
    const { query, action } = event
    const { error } = query.state
    const before = failures.get(query)
    if (error) failures.set(query, error)
    // Cache listeners run before components render, so the cleared error is never visible.
    else if (before && action.type === "fetch") query.setState({ status: "error", error: before })
    else failures.delete(query)
  })
}
