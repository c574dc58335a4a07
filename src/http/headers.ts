import { getDomain } from "tldts"

/** Header sets by kind of response, without `X-Request-Id`. */
export interface HeaderSets {
  /** Headers of the public API, health and problems outside the open paths. */
  api: Readonly<Record<string, string>>
  /** Headers of paths that any page can use without credentials: events, tracker, pixel. */
  open: Readonly<Record<string, string>>
  /** Returns the headers of dashboard pages. Shared views can be embedded by the given origins. */
  page(embedOrigins?: readonly string[]): Readonly<Record<string, string>>
  /** Headers of scripts, styles and images of the dashboard. */
  asset: Readonly<Record<string, string>>
}

/** Content security policy: pages only load from their own origin, and text never becomes markup or code. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join("; ")

/** Creates the header sets. An empty base URL means that none is set. */
export function headerSets({ baseUrl, hsts }: { baseUrl: string; hsts: boolean }): HeaderSets {
  const all = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    ...(hsts && baseUrl.startsWith("https:") && { "strict-transport-security": strictTransport(new URL(baseUrl).hostname) }),
  }
  const page: HeaderSets["page"] = (embedOrigins = []) => ({
    ...all,
    "content-security-policy": `${PAGE_POLICY}; frame-ancestors ${embedOrigins.length > 0 ? embedOrigins.join(" ") : "'none'"}`,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-store",
  })
  return {
    page,
    asset: { ...all, "cross-origin-resource-policy": "same-origin" },
    api: {
      ...all,
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
    },
    open: {
      ...all,
      "access-control-allow-origin": "*",
      // The tracker needs this header to know when to retry.
      "access-control-expose-headers": "retry-after",
      "cross-origin-resource-policy": "cross-origin",
    },
  }
}

/** Returns the HSTS value. On a registrable domain it excludes subdomains, which can belong to others. */
const strictTransport = (host: string): string => (getDomain(host) === host ? "max-age=31536000" : "max-age=31536000; includeSubDomains")

/** Returns the request id sent by the caller if it is valid, otherwise a new one. */
export function requestId(request: Request): string {
  const given = request.headers.get("x-request-id")
  return given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : Bun.randomUUIDv7()
}

/** Returns whether `If-None-Match` contains the tag. The header can list several. The comparison is weak, because proxies change strength. */
export function matchesETag(request: Request, etag: string): boolean {
  const given = request.headers.get("if-none-match")
  if (given === null) return false
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "")
  return given.trim() === "*" || given.split(",").some((tag) => opaque(tag) === opaque(etag))
}
