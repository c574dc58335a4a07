import type { CustomFetchOptions } from "openid-client"
import type { Outbound, OutboundAnswer } from "./outbound.ts"

interface OAuthFetchOptions {
  /** Whether the operator has configured the URLs of the service. */
  byOperator: boolean
  /** Receives each response before the library reads it. */
  onAnswer?(answer: OutboundAnswer): void
}

/** Returns the function with which the OAuth library sends its requests through the outbound client. */
export const oauthFetch =
  (outbound: Pick<Outbound, "fetch">, { byOperator, onAnswer }: OAuthFetchOptions) =>
  async (url: string, options: CustomFetchOptions | { method: string }): Promise<Response> => {
    const { method, headers, body } = options as CustomFetchOptions
    const text = body == null ? undefined : String(body)
    // The code and the client secret must not follow a redirect.
    const sent = { method, headers: headers ?? {}, secretHeaders: ["authorization"], byOperator, follows: false }
    const answer = await outbound.fetch(url, { ...sent, ...(text !== undefined && { body: text }) })
    onAnswer?.(answer)
    // A status without a body must not have one, not even an empty one.
    const hasBody = answer.status !== 204 && answer.status !== 304
    return new Response(hasBody ? (answer.body as Uint8Array<ArrayBuffer>) : null, { status: answer.status, headers: answer.headers })
  }
