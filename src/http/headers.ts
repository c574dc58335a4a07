import { getDomain } from "tldts"

/** Header sets by the kind of answer. `X-Request-Id` comes on top of each. */
export interface HeaderSets {
  /** Public API, health, every problem outside the open paths. */
  api: Readonly<Record<string, string>>
  /** What any page may load or post to, without credentials: collect paths, tracker, pixel. */
  open: Readonly<Record<string, string>>
  /** Pages of the dashboard. Those of a shared view may be embedded by the origins its owner named. */
  page(embedOrigins?: readonly string[]): Readonly<Record<string, string>>
  /** Scripts, styles and pictures of the dashboard. */
  asset: Readonly<Record<string, string>>
}

/** Everything a page loads comes from its own origin, and no text becomes markup or code. */
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

/** An empty base URL stands for one that is not set. */
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
