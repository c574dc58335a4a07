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
  const isOwnOrigin = (origin: string): boolean => {
    const page = URL.parse(origin)
    return (
      page !== null && page.origin === origin && (origin === own?.origin || (page.hostname !== own?.hostname && isServed(page.hostname)))
    )
  }

  return {
    refuseHost({ url }) {
      // A host that no URL can have is not served either.
      if (!isServed(URL.parse(url)?.hostname ?? ""))
        throw new AppError("misdirected_request", "The dashboard does not answer under this host name: set base_url or allowed_hosts.")
    },
    refuseCrossSite({ method, headers }) {
      if (method === "GET" || method === "HEAD") return
      const site = headers.get("sec-fetch-site")
      const origin = headers.get("origin")
      // Neither is there: the client is no browser, and has no cookie that it does not know of.
      const isAllowed = site !== null ? site === "same-origin" || site === "none" : origin === null || isOwnOrigin(origin)
      if (!isAllowed) throw new AppError("origin_not_allowed", "The request comes from a page of another origin.")
    },
  }
}

export const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)
const isAddress = (host: string): boolean => host.startsWith("[") || /^\d{1,3}(\.\d{1,3}){3}$/.test(host)
