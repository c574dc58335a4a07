import { createHash, createHmac } from "node:crypto"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { OUTBOUND } from "../../domain/limits.ts"
import { type Outbound, readAnswer } from "../outbound/outbound.ts"

/** A bucket on an S3-compatible server. */
export interface BucketPlace extends S3Key {
  /** Origin of the server, without a path. */
  endpoint: string
  bucket: string
  /** Prefix of all object names. Empty, or ends with a slash. */
  prefix: string
  /** Whether the operator configured the bucket. Its address is then not restricted. */
  byOperator: boolean
}

/** Access to the objects of a bucket by their names after the prefix. Each request passes the outbound guard and throws its errors. */
export interface Bucket {
  /** Uploads a file with its SHA-256, which the server verifies. Rejects files larger than 5 GiB. */
  put(name: string, file: Blob, sha256: string): Promise<void>
  /** Downloads an object. Returns undefined if it does not exist. */
  get(name: string): Promise<ReadableStream<Uint8Array> | undefined>
  /** Lists the names of all objects. */
  list(): Promise<string[]>
  remove(name: string): Promise<void>
}

/** Largest object that S3 accepts in a single request. */
const MAX_BYTES = 5 * 2 ** 30
const TRANSFER_MS = 6 * 3_600_000

export function createBucket(
  place: BucketPlace,
  { outbound, clock }: { outbound: Pick<Outbound, "transfer">; clock: Pick<Clock, "now"> },
): Bucket {
  const root = `${place.endpoint}/${encoded(place.bucket)}`
  const urlOf = (name: string) => new URL(`${root}/${(place.prefix + name).split("/").map(encoded).join("/")}`)

  async function ask(method: string, url: URL, body?: Blob, bodyHash = EMPTY_HASH): Promise<Response> {
    const headers = signedHeaders(place, { method, url, bodyHash, now: clock.now() })
    const timeoutMs = method === "GET" || method === "PUT" ? TRANSFER_MS : OUTBOUND.timeoutMs
    return outbound.transfer(url.href, { method, headers, byOperator: place.byOperator, timeoutMs, ...(body && { body }) })
  }
  async function page(token: string | undefined): Promise<{ names: string[]; next: string | undefined }> {
    const url = new URL(root)
    const asked = { "list-type": "2", "encoding-type": "url", prefix: place.prefix, ...(token && { "continuation-token": token }) }
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
    // The signature encodes spaces as %20, and the URL must match.
    url.search = url.search.replaceAll("+", "%20")
    const answer = await ask("GET", url)
    if (answer.status !== 200) throw await refusal(answer)
    const text = await textOf(answer)
    const names = textsIn(text, "Key").map((key) => decodeURIComponent(key.replaceAll("+", " ")).slice(place.prefix.length))
    return { names, next: textsIn(text, "NextContinuationToken")[0] }
  }

  return {
    async put(name, file, sha256) {
      if (file.size > MAX_BYTES)
        throw new AppError("outbound_failed", `${name} is larger than 5 GiB, the largest file that a bucket accepts.`)
      const answer = await ask("PUT", urlOf(name), file, sha256)
      if (answer.status !== 200) throw await refusal(answer)
      await answer.body?.cancel()
    },
    async get(name) {
      const answer = await ask("GET", urlOf(name))
      if (answer.status === 200 && answer.body) return answer.body
      if (answer.status !== 404) throw await refusal(answer)
      await answer.body?.cancel()
      return undefined
    },
    async list() {
      const names: string[] = []
      for (let token: string | undefined; ; ) {
        const { names: some, next } = await page(token)
        names.push(...some)
        if (next === undefined || next === token) return names
        token = next
      }
    },
    async remove(name) {
      const answer = await ask("DELETE", urlOf(name))
      if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404) throw await refusal(answer)
      await answer.body?.cancel()
    },
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/**
 * Returns the contents of all elements with a name. The server's answers have no attributes and no nested elements of the same
 * name.
 */
const textsIn = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text]) =>
    text!.replace(/&(\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole),
  )

/** Reads an answer as text, up to the usual maximum size of answers. */
const textOf = async (answer: Response): Promise<string> => (await readAnswer(answer)).toString()

/** Creates an error with the server's error code, which names the problem (key, name, clock). The rest of the answer is not shown. */
async function refusal(answer: Response): Promise<AppError> {
  const [code] = textsIn(await textOf(answer), "Code")
  const suffix = code !== undefined && /^\w{1,60}$/.test(code) ? ` ${code}` : ""
  return new AppError("outbound_failed", `The bucket answered ${answer.status}${suffix}.`)
}

/** Credentials and region for a signature. */
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
  /** Epoch milliseconds. Servers tolerate a few minutes' difference. */
  now: number
}

export const EMPTY_HASH = createHash("sha256").digest("hex")

/** Percent-encodes a text as RFC 3986 requires. `encodeURIComponent` leaves out five characters that the signature encodes. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

/** Returns the headers that sign a request to an S3-compatible server (AWS Signature Version 4). */
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
