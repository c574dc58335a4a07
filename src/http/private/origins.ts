import { AppError } from "../../domain/error.ts"

/** Which hosts the dashboard and the private API answer under, and which pages may call them (reliability.md 8). */
export interface Origins {
  /** Throws `misdirected_request`. Ports do not count. */
  refuseHost(request: Request): void
  /** Throws `origin_not_allowed` for a write that a page of another origin sends. */
  refuseCrossSite(request: Request): void
}

export function privateOrigins({ baseUrl, allowedHosts }: { baseUrl: string; allowedHosts: readonly string[] }): Origins {
  const own = URL.parse(baseUrl)
  const names = new Set([...allowedHosts, ...(own ? [own.hostname] : [])])
  const isServed = (host: string): boolean => names.has(host) || isLoopback(host) || (own === null && isAddress(host))
  /** What every machine has, an address or a loopback name, is ours only where it is the very host that was called. */
  const isOwnOrigin = (origin: string, called: string): boolean => {
    const page = URL.parse(origin)
    if (page?.origin !== origin) return false
    if (page.hostname === own?.hostname) return origin === own.origin
    return names.has(page.hostname) || (isServed(page.hostname) && page.host === URL.parse(called)?.host)
  }

  return {
    refuseHost({ url }) {
      // A host that no URL can have is not served either.
      if (!isServed(URL.parse(url)?.hostname ?? ""))
        throw new AppError("misdirected_request", "The dashboard does not answer under this host name: set base_url or allowed_hosts.")
    },
    refuseCrossSite({ url, method, headers }) {
      if (method === "GET" || method === "HEAD") return
      const site = headers.get("sec-fetch-site")
      const origin = headers.get("origin")
      // Neither is there: the client is no browser, and has no cookie that it does not know of.
      const isAllowed = site !== null ? site === "same-origin" || site === "none" : origin === null || isOwnOrigin(origin, url)
      if (!isAllowed) throw new AppError("origin_not_allowed", "The request comes from a page of another origin.")
    },
  }
}

export const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)
const isAddress = (host: string): boolean => host.startsWith("[") || /^\d{1,3}(\.\d{1,3}){3}$/.test(host)
