/** Returns all IPv4 and IPv6 addresses of a host name. */
export type ResolveName = (name: string) => Promise<readonly string[]>

/** Resolves a host name with the resolver of the system. */
export const resolveName: ResolveName = async (name) => {
  // Imported on first use to keep the start fast.
  const { lookup } = await import("node:dns/promises")
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** Returns a resolver that asks only these name servers, for tests. It knows no local names. */
export function resolveAt(servers: readonly string[]): ResolveName {
  return async (name) => {
    const { Resolver } = await import("node:dns/promises")
    const resolver = new Resolver({ timeout: 3_000, tries: 2 })
    resolver.setServers(servers)
    const none = (): string[] => []
    const found = await Promise.all([resolver.resolve4(`${name}.`).catch(none), resolver.resolve6(`${name}.`).catch(none)])
    if (found.flat().length === 0) throw new Error("The name has no address")
    return found.flat()
  }
}

export interface SocketRequest {
  url: URL
  /** IP address to connect to. If undefined, the host name is resolved. */
  address: string | undefined
  method: string
  headers: Headers
  body: string | Uint8Array | Blob | undefined
  signal: AbortSignal
  /** Certificate authorities that are trusted in addition to those of the system. */
  ca?: string | undefined
}

/**
 * Opens an outgoing connection and sends a request. It connects to the given IP address but uses the host name of the URL in `Host` and
 * TLS, and the certificate must be valid for that name. Redirects are not followed. Connections are not reused, because a connection for
 * another host name was verified with another certificate.
 */
export function send({ url, address, method, headers, body, signal, ca }: SocketRequest): Promise<Response> {
  const target = new URL(url)
  if (address !== undefined) {
    target.hostname = address.includes(":") ? `[${address}]` : address
    headers.set("host", url.host)
  }
  // If the URL contains an IP address, TLS has no server name and the certificate is checked against the address.
  const isName = address !== undefined && target.hostname !== url.hostname
  return fetch(target, {
    method,
    headers,
    signal,
    redirect: "manual",
    keepalive: false,
    // A proxy from the environment would replace the checked address.
    proxy: false,
    ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> | string | Blob }), // the types exclude views over shared buffers
    tls: { ...(isName && { serverName: url.hostname.replace(/\.$/, "") }), ...(ca !== undefined && { ca }) },
  } as unknown as BunFetchRequestInit) // the types do not include `proxy: false`
}
