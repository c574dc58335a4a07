const METHODS = "GET, HEAD, POST, PATCH, DELETE"
const REQUEST_HEADERS = "authorization, content-type, idempotency-key, if-match, if-none-match, x-request-id"
/** What a page may read of an answer beside its body. */
const ANSWER_HEADERS =
  "etag, location, idempotency-replayed, retry-after, x-request-id, ratelimit, ratelimit-policy, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset"

/** Lets pages of chosen origins call the public API from a browser, never with credentials (api.md 4.9). */
export interface Cors {
  /** The answer to a preflight; undefined for a request that is none, or of an origin that is not chosen. */
  preflight(request: Request, path: string, headers: Readonly<Record<string, string>>): Response | undefined
  /** The answer, readable by the page that asked. */
  allow(request: Request, path: string, answer: Response): Response
}

/** `origins` are exact; without any there is no preflight and no header. */
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
      answer.headers.set("access-control-expose-headers", ANSWER_HEADERS)
      return answer
    },
  }
}

/** MCP has a rule of its own about origins. Routes answer with a slash behind them too. */
const isPublic = (path: string): boolean =>
  (path.startsWith("/api/public/v1/") && !/^\/api\/public\/v1\/mcp\/?$/.test(path)) || /^\/api\/v2\/query\/?$/.test(path)
