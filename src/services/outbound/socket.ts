/** All addresses of a name, of both kinds. */
export type ResolveName = (name: string) => Promise<readonly string[]>

/** By the system, as every other program of the machine does. */
export const resolveName: ResolveName = async (name) => {
  // Only now: it brings much with it that no start needs.
  const { lookup } = await import("node:dns/promises")
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

export interface SocketRequest {
  url: URL
  /** Where to connect to; undefined: wherever the name leads. */
  address: string | undefined
  method: string
  headers: Headers
  body: string | Uint8Array | Blob | undefined
  signal: AbortSignal
  /** Certificates of authorities beside those of the system. */
  ca?: string | undefined
}

/**
 * The one place that opens connections to the outside. It connects to the address it is given, under the name of the URL: the
 * name is in `Host`, is asked for in TLS, and the certificate has to be of it. Redirects are not followed, and no connection is
 * used again: one that was opened for another name has shown another certificate.
 */
export function send({ url, address, method, headers, body, signal, ca }: SocketRequest): Promise<Response> {
  const target = new URL(url)
  if (address !== undefined) {
    target.hostname = address.includes(":") ? `[${address}]` : address
    headers.set("host", url.host)
  }
  // A name that is an address itself is no name for TLS; the certificate is then checked against the address.
  const isName = address !== undefined && target.hostname !== url.hostname
  return fetch(target, {
    method,
    headers,
    signal,
    redirect: "manual",
    keepalive: false,
    // A proxy of the environment would be connected to in place of the address.
    proxy: false,
    ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> | string | Blob }), // a view over any buffer is a body
    tls: { ...(isName && { serverName: url.hostname.replace(/\.$/, "") }), ...(ca !== undefined && { ca }) },
  } as unknown as BunFetchRequestInit) // the types know no `proxy: false`
}
