import { AppError } from "../../domain/error.ts"

/** Host names of the dashboard and the private API, and origins of pages that can call them (reliability.md 8). */
export interface Origins {
  /** Throws `misdirected_request` for an unknown host name. Ports are ignored. */
  refuseHost(request: Request): void
  /** Throws `origin_not_allowed` for a write sent by a page of another origin. */
  refuseCrossSite(request: Request): void
}

/** Creates the rules for host names and origins from the settings. */
export function privateOrigins({ baseUrl, allowedHosts }: { baseUrl: string; allowedHosts: readonly string[] }): Origins {
  const own = URL.parse(baseUrl)
  const names = new Set([...allowedHosts, ...(own ? [own.hostname] : [])])
  const isServed = (host: string): boolean => names.has(host) || isLoopback(host) || (own === null && isAddress(host))
  /** Returns whether a page is ours. Any machine can have an IP address or loopback name, so these must equal the requested host. */
  const isOwnOrigin = (origin: string, called: string): boolean => {
    const page = URL.parse(origin)
    if (page?.origin !== origin) return false
    if (page.hostname === own?.hostname) return origin === own.origin
    return names.has(page.hostname) || (isServed(page.hostname) && page.host === URL.parse(called)?.host)
  }

  return {
    refuseHost({ url }) {
      // A host that is invalid in a URL is rejected, too.
      if (!isServed(URL.parse(url)?.hostname ?? ""))
        throw new AppError("misdirected_request", "The dashboard is not served under this host name. Set base_url or allowed_hosts.")
    },
    refuseCrossSite({ url, method, headers }) {
      if (method === "GET" || method === "HEAD") return
      const site = headers.get("sec-fetch-site")
      const origin = headers.get("origin")
      // Without both headers the client is not a browser, so no page can use its cookies.
      const isAllowed = site !== null ? site === "same-origin" || site === "none" : origin === null || isOwnOrigin(origin, url)
      if (!isAllowed) throw new AppError("origin_not_allowed", "The request comes from a page of another origin.")
    },
  }
}

export const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)
const isAddress = (host: string): boolean => host.startsWith("[") || /^\d{1,3}(\.\d{1,3}){3}$/.test(host)
