import { getDomain } from "tldts"

/** Header sets by the kind of answer. `X-Request-Id` comes on top of each. */
export interface HeaderSets {
  /** Public API, health, every problem outside the open paths. */
  api: Readonly<Record<string, string>>
  /** What any page may load or post to, without credentials: collect paths, tracker, pixel. */
  open: Readonly<Record<string, string>>
}

/** An empty base URL stands for one that is not set. */
export function headerSets({ baseUrl, hsts }: { baseUrl: string; hsts: boolean }): HeaderSets {
  const all = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    ...(hsts && baseUrl.startsWith("https:") && { "strict-transport-security": strictTransport(new URL(baseUrl).hostname) }),
  }
  return {
    api: {
      ...all,
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
    },
    open: {
      ...all,
      "access-control-allow-origin": "*",
      // Else the tracker cannot read when it may try again.
      "access-control-expose-headers": "retry-after",
      "cross-origin-resource-policy": "cross-origin",
    },
  }
}

/** On a registrable domain itself, subdomains are other people's business. */
const strictTransport = (host: string): string => (getDomain(host) === host ? "max-age=31536000" : "max-age=31536000; includeSubDomains")

/** The caller's own id of a request when it is a plain word, else a new one. */
export function requestId(request: Request): string {
  const given = request.headers.get("x-request-id")
  return given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : Bun.randomUUIDv7()
}
