/** Pages on the reader's own machine, where assistants run their windows. */
const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/

export interface OriginOptions {
  /** Empty when none is set. */
  baseUrl: string
  /** Exact origins besides the instance's own and loopback. */
  mcpAllowedOrigins: readonly string[]
}

/**
 * Whether a page of an origin may speak to the endpoint; programs send none. Else a page that a reader merely visits could
 * reach an instance in their network. `null`, what a sandboxed page sends, is nobody's.
 */
export function originRule({ baseUrl, mcpAllowedOrigins }: OriginOptions): (origin: string | null) => boolean {
  const named = new Set([...mcpAllowedOrigins, ...(baseUrl === "" ? [] : [new URL(baseUrl).origin])])
  return (origin) => origin === null || named.has(origin) || LOOPBACK.test(origin)
}
