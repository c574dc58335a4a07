import { createHash, createHmac } from "node:crypto"

export interface S3Server extends Disposable {
  endpoint: string
  /** Objects by `/bucket/key`. */
  objects: Map<string, Uint8Array>
  /** Codes of the rejected requests. */
  refused: string[]
  /** Answers every request with 503. */
  down: boolean
}

const SECRET = "a-secret-of-forty-characters-or-so-4711"
export const S3_KEY = { key_id: "AKTEST", secret: SECRET, region: "eu-test-1" }

/**
 * Starts a server on loopback that stores objects and checks signatures (AWS Signature Version 4, in headers). It follows the
 * protocol's documentation and shares no code with our own signing. `pageSize` is the number of names per listing.
 */
export function startS3({ pageSize = 1_000 } = {}): S3Server {
  const objects = new Map<string, Uint8Array>()
  const refused: string[] = []
  const state = { down: false }
  const refuse = (status: number, code: string) => {
    refused.push(code)
    return new Response(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`, { status })
  }
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.bytes()
      if (state.down) return refuse(503, "SlowDown")
      const fault = faultOf(request, body)
      if (fault) return refuse(fault === "XAmzContentSHA256Mismatch" ? 400 : 403, fault)
      const url = new URL(request.url)
      if (url.searchParams.get("list-type") === "2") return list(url)
      const name = decodeURIComponent(url.pathname)
      if (request.method === "PUT") {
        objects.set(name, body)
        return new Response("")
      }
      if (request.method === "DELETE") {
        objects.delete(name)
        return new Response(null, { status: 204 })
      }
      const found = objects.get(name)
      return found ? new Response(found as Uint8Array<ArrayBuffer>) : refuse(404, "NoSuchKey")
    },
  })

  function list({ pathname, searchParams }: URL): Response {
    const prefix = `${pathname}/${searchParams.get("prefix") ?? ""}`
    const after = searchParams.get("continuation-token") ?? ""
    const names = [...objects.keys()].filter((name) => name.startsWith(prefix)).sort()
    const left = names.filter((name) => name > after)
    const page = left.slice(0, pageSize)
    const keys = page.map((name) => `<Contents><Key>${encodeURIComponent(name.slice(pathname.length + 1))}</Key></Contents>`)
    const next = left.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ""
    return new Response(`<ListBucketResult>${keys.join("")}${next}</ListBucketResult>`)
  }

  return Object.assign(state, { endpoint: `http://127.0.0.1:${server.port}`, objects, refused, [Symbol.dispose]: () => server.stop(true) })
}

const sha = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex")

function faultOf(request: Request, body: Uint8Array): string | undefined {
  const given = request.headers.get("authorization") ?? ""
  const parts = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
    given,
  )
  if (!parts) return "AccessDenied"
  const [, keyId, day, region, signed, signature] = parts as unknown as string[]
  if (keyId !== S3_KEY.key_id) return "InvalidAccessKeyId"
  const bodyHash = request.headers.get("x-amz-content-sha256") ?? ""
  if (bodyHash !== "UNSIGNED-PAYLOAD" && bodyHash !== sha(body)) return "XAmzContentSHA256Mismatch"
  const url = new URL(request.url)
  const query = [...url.searchParams].map(([name, value]) => `${strict(name)}=${strict(value)}`).sort()
  const headers = signed!.split(";").map((name) => `${name}:${request.headers.get(name)}\n`)
  const canonical = [request.method, url.pathname, query.join("&"), headers.join(""), signed, bodyHash].join("\n")
  const text = `AWS4-HMAC-SHA256\n${request.headers.get("x-amz-date")}\n${day}/${region}/s3/aws4_request\n${sha(canonical)}`
  let key: string | Buffer = `AWS4${SECRET}`
  for (const part of [day!, region!, "s3", "aws4_request"]) key = createHmac("sha256", key).update(part).digest()
  return createHmac("sha256", key).update(text).digest("hex") === signature ? undefined : "SignatureDoesNotMatch"
}

const strict = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
