import type { Site } from "./site.ts"

/** The names and IP addresses of a developer's own machine and network, by RFC 6761 and common use. */
const LOCAL =
  /^(\*\.)?((.+\.)?(localhost|local|test)|127(\.\d+){3}|10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|\[::1\])$/

/** Returns whether a host, as sites list it, is on a developer's own machine or network. */
export const isDevelopmentHost = (host: string): boolean => LOCAL.test(host)

/** The hosts on which the tracker records nothing unless its script element has the attribute `data-local` (metrics.md 17.3). */
const UNCOUNTED = /^(localhost|127\..*|\[::1\])$/

/** Returns whether the tracker needs `data-local` to record events on a host. */
export const needsDataLocal = (host: string): boolean => UNCOUNTED.test(host)

/**
 * Returns the script element that loads the tracker on a site's pages. For a site that lists a local host, it has the attribute
 * `data-local`, without which the tracker records nothing there.
 */
export function snippetOf({ hosts, tracking_id }: Pick<Site, "hosts" | "tracking_id">, scriptUrl: string): string {
  const local = hosts.some(isDevelopmentHost) ? " data-local" : ""
  return `<script defer src="${scriptUrl}" data-site="${tracking_id}"${local}></script>`
}
