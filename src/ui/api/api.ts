/** The one way to the server: JSON in and out, problems as errors, and a new sign-in in place when one is asked for. */
import { askForProof, askForProvider, askForSignIn } from "./proof.ts"

export interface Fault {
  pointer: string
  code: string
  detail: string
  allowed?: string[]
}

/** What the server refused, in its own words (`application/problem+json`). */
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
  /** A file is sent as it is, under the `content-type` that the heads name; anything else as JSON. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
  /** A failed sign-in is no reason to ask for one. */
  isSignIn?: boolean
}

/**
 * Resolves with the parsed body; undefined where there is none. Throws `Problem`; `offline` when the server cannot be reached.
 * Where the session has ended, who it is must be proved again or by an identity provider, the person is asked over the page,
 * and the request is sent once more.
 */
export async function send<Answer>(path: string, sending: Sending = {}): Promise<Answer> {
  try {
    return await sendOnce<Answer>(path, sending)
  } catch (error) {
    if (!(error instanceof Problem) || sending.isSignIn) throw error
    if (error.code === "session_required") await askForSignIn()
    else if (error.code === "reauth_required") await askForProof()
    else if (error.code === "sso_required") await askForProvider()
    else throw error
    return sendOnce<Answer>(path, sending)
  }
}

async function sendOnce<Answer>(path: string, { method = "GET", body, headers, signal }: Sending): Promise<Answer> {
  const isJson = body !== undefined && !(body instanceof Blob)
  const response = await fetch(path, {
    method,
    headers: { ...(isJson && { "content-type": "application/json" }), accept: "application/json", ...headers },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as Blob) }),
    ...(signal && { signal }),
  }).catch((error) => {
    if (signal?.aborted) throw error
    throw new Problem(0, "offline", "The server cannot be reached.")
  })
  const text = await response.text()
  const parsed = text === "" ? undefined : parse(text)
  if (response.ok) return parsed as Answer // what the server answers is described by whoever asks
  const { code = "unknown", detail, title, ...members } = (parsed ?? {}) as { code?: string; detail?: string; title?: string }
  const retryAfter = Number(response.headers.get("retry-after"))
  throw new Problem(response.status, code, detail ?? title ?? `The server answered ${response.status}.`, {
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

export const get = <Answer>(path: string, signal?: AbortSignal): Promise<Answer> => send<Answer>(path, signal ? { signal } : {})
export const post = <Answer>(path: string, body: unknown, sending: Sending = {}): Promise<Answer> =>
  send<Answer>(path, { ...sending, method: "POST", body })
export const put = <Answer>(path: string, body: unknown, sending: Sending = {}): Promise<Answer> =>
  send<Answer>(path, { ...sending, method: "PUT", body })
export const patch = <Answer>(path: string, body: unknown, sending: Sending = {}): Promise<Answer> =>
  send<Answer>(path, { ...sending, method: "PATCH", body })
export const remove = (path: string, sending: Sending = {}): Promise<void> => send<void>(path, { ...sending, method: "DELETE" })
