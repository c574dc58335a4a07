import { createHash, createHmac } from "node:crypto"

/** Who asks, and where: what a signature is made with. */
export interface S3Key {
  region: string
  key_id: string
  secret: string
}

export interface S3Request {
  method: string
  url: URL
  /** SHA-256 of the body, in hex. */
  bodyHash: string
  /** Epoch ms; the other side bears a few minutes' difference. */
  now: number
}

export const EMPTY_HASH = createHash("sha256").digest("hex")

/** As RFC 3986 has it: the platform's own leaves five characters out that the signature has encoded. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

/** Headers that sign a request to an S3-speaking server (AWS Signature Version 4). */
export function signedHeaders({ region, key_id, secret }: S3Key, { method, url, bodyHash, now }: S3Request): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, "")
  const day = time.slice(0, 8)
  const signed = { host: url.host, "x-amz-content-sha256": bodyHash, "x-amz-date": time }
  const names = Object.keys(signed).join(";")
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`)
  const canonical = [method, url.pathname, sortedQuery(url), lines.join(""), names, bodyHash].join("\n")
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ["AWS4-HMAC-SHA256", time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n")
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`)
  const { host: _, ...sent } = signed
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${key_id}/${scope}, SignedHeaders=${names}, Signature=${hmac(key, text).toString("hex")}`,
  }
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest()

const sortedQuery = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join("&")
