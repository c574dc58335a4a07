/** Origins on the user's own machine, used by desktop assistants. */
const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/

export interface OriginOptions {
  /** Base URL, or "" if none is set. */
  baseUrl: string
  /** Exact origins in addition to the base URL and loopback. */
  mcpAllowedOrigins: readonly string[]
}

/**
 * Returns a function that checks whether an origin can use the endpoint. Programs send no origin. The check stops visited web pages
 * from reaching an instance in a private network. The origin `null` of sandboxed pages is rejected.
 */
export function originRule({ baseUrl, mcpAllowedOrigins }: OriginOptions): (origin: string | null) => boolean {
  const named = new Set([...mcpAllowedOrigins, ...(baseUrl === "" ? [] : [new URL(baseUrl).origin])])
  return (origin) => origin === null || named.has(origin) || LOOPBACK.test(origin)
}
