const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
const REQUEST_HEADERS = "authorization, content-type, idempotency-key, if-match, if-none-match, x-request-id"
/** Response headers that pages can read. */
const RESPONSE_HEADERS =
  "etag, location, idempotency-replayed, retry-after, x-request-id, ratelimit, ratelimit-policy, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset"

/** CORS rules: pages of configured origins can call the public API, never with credentials (api.md 4.9). */
export interface Cors {
  /** Returns the response to a preflight, or undefined for other requests and other origins. */
  preflight(request: Request, path: string, headers: Readonly<Record<string, string>>): Response | undefined
  /** Adds the headers that let the requesting page read the response. */
  allow(request: Request, path: string, answer: Response): Response
}

/** Creates the CORS rules for exact origins. Without origins there are no preflights and no headers. */
export function crossOrigin(origins: readonly string[]): Cors {
  const chosen = new Set(origins)
  const originOf = (request: Request, path: string): string | undefined => {
    if (chosen.size === 0 || !isPublic(path)) return undefined
    const origin = request.headers.get("origin")
    return origin !== null && chosen.has(origin) ? origin : undefined
  }

  return {
    preflight(request, path, headers) {
      const origin = request.method === "OPTIONS" ? originOf(request, path) : undefined
      if (origin === undefined) return undefined
      return new Response(null, {
        status: 204,
        headers: {
          ...headers,
          "access-control-allow-origin": origin,
          "access-control-allow-methods": METHODS,
          "access-control-allow-headers": REQUEST_HEADERS,
          "access-control-max-age": "600",
          vary: "origin",
        },
      })
    },
    allow(request, path, answer) {
      const origin = originOf(request, path)
      if (chosen.size > 0 && isPublic(path)) answer.headers.append("vary", "origin")
      if (origin === undefined) return answer
      answer.headers.set("access-control-allow-origin", origin)
      answer.headers.set("access-control-expose-headers", RESPONSE_HEADERS)
      return answer
    },
  }
}

/** Returns whether CORS applies to a path. MCP has its own origin rule. Routes also accept a trailing slash. */
const isPublic = (path: string): boolean =>
  (path.startsWith("/api/public/v1/") && !/^\/api\/public\/v1\/mcp\/?$/.test(path)) ||
  /^\/api\/(v2\/query\/?$|(v0|v1|websites)\/)/.test(path)
