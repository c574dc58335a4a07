import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { OUTBOUND } from "../domain/limits.ts"
import { type Outbound, readAnswer } from "./outbound.ts"
import { EMPTY_HASH, encoded, type S3Key, signedHeaders } from "./s3-signature.ts"

/** Where objects lie, on a server that speaks S3. */
export interface BucketPlace extends S3Key {
  /** Without a path. */
  endpoint: string
  bucket: string
  /** Empty, or ends with a slash: what all names begin with. */
  prefix: string
  /** Environment or file name it: no rule is asked of the address. */
  byOperator: boolean
}

/** Objects of a bucket by the names behind its prefix. Each request passes the outbound guard. Throws what that throws. */
export interface Bucket {
  /** A file, with the SHA-256 that the server has to find too. Larger ones than 5 GiB are refused. */
  put(name: string, file: Blob, sha256: string): Promise<void>
  /** Undefined when there is none. */
  get(name: string): Promise<ReadableStream<Uint8Array> | undefined>
  /** All names. */
  list(): Promise<string[]>
  remove(name: string): Promise<void>
}

/** In one piece a server takes no more. */
const MOST_BYTES = 5 * 2 ** 30
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
    // The signature has spaces as %20, and so must the address.
    url.search = url.search.replaceAll("+", "%20")
    const answer = await ask("GET", url)
    if (answer.status !== 200) throw await refusal(answer)
    const text = await textOf(answer)
    const names = textsIn(text, "Key").map((key) => decodeURIComponent(key.replaceAll("+", " ")).slice(place.prefix.length))
    return { names, next: textsIn(text, "NextContinuationToken")[0] }
  }

  return {
    async put(name, file, sha256) {
      if (file.size > MOST_BYTES) throw new AppError("outbound_failed", `${name} is larger than the 5 GiB that a bucket takes at once.`)
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

/** What stands in elements of this name; the answers have no attributes and nothing nested of one name. */
const textsIn = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text]) =>
    text!.replace(/&(\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole),
  )

/** Of an answer that lists or refuses: never more than other answers may have. */
const textOf = async (answer: Response): Promise<string> => (await readAnswer(answer)).toString()

/** The code says what is wrong (a key, a name, a clock); the rest of what a server says is nobody's business. */
async function refusal(answer: Response): Promise<AppError> {
  const [code] = textsIn(await textOf(answer), "Code")
  const says = code !== undefined && /^\w{1,60}$/.test(code) ? ` ${code}` : ""
  return new AppError("outbound_failed", `The bucket answered ${answer.status}${says}.`)
}
