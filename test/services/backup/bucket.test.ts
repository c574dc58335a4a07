import { expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { createBucket, signedHeaders } from "../../../src/services/backup/bucket.ts"
import { createOutbound } from "../../../src/services/outbound/outbound.ts"
import { S3_KEY, type S3Server, startS3 } from "./s3-server.ts"

const clock = { now: () => Date.parse("2026-11-21T12:00:00Z"), monotonic: () => performance.now() }
const guard = { enabled: true, allowHttp: true, ports: [80, 443], privateRanges: [] }
const sha = (text: string) => createHash("sha256").update(text).digest("hex")
const bucketAt = ({ endpoint }: Pick<S3Server, "endpoint">, given: object = {}, settings: object = {}) =>
  createBucket(
    { endpoint, bucket: "backups", prefix: "foot fall/", byOperator: true, ...S3_KEY, ...given },
    { outbound: createOutbound({ settings: { ...guard, ...settings }, clock, version: "0.0.0" }), clock },
  )

test("signs a request as in the examples of the protocol's documentation", () => {
  // From "GET Bucket (List Objects)" of the AWS documentation, because the example "GET Object" also has a Range header.
  const headers = signedHeaders(
    { region: "us-east-1", key_id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
    {
      method: "GET",
      url: new URL("https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2"),
      bodyHash: sha(""),
      now: Date.parse("2013-05-24T00:00:00Z"),
    },
  )
  expect(headers.authorization).toEndWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
})

test("the test server accepts requests signed by another client and rejects unsigned ones", async () => {
  using server = startS3()
  const client = new Bun.S3Client({
    endpoint: server.endpoint,
    bucket: "backups",
    accessKeyId: S3_KEY.key_id,
    secretAccessKey: S3_KEY.secret,
    region: S3_KEY.region,
  })
  await client.write("a.txt", "text")
  expect(await client.file("a.txt").text()).toBe("text")
  expect((await fetch(`${server.endpoint}/backups/a.txt`)).status).toBe(403)
})

test("writes, lists over several pages, reads and removes objects", async () => {
  using server = startS3({ pageSize: 2 })
  const bucket = bucketAt(server)
  for (const name of ["a/1", "a/2+x", "b/ü & 'ö'", "c/4", "c/5"]) await bucket.put(name, new Blob([name]), sha(name))
  server.objects.set("/backups/other/6", new Uint8Array())
  expect(await bucket.list()).toEqual(["a/1", "a/2+x", "b/ü & 'ö'", "c/4", "c/5"])
  expect(await new Response(await bucket.get("b/ü & 'ö'")).text()).toBe("b/ü & 'ö'")
  expect(await bucket.get("nothing")).toBeUndefined()
  await bucket.remove("a/1")
  await bucket.remove("a/1")
  expect((await bucket.list()).length).toBe(4)
  expect(server.refused).toEqual(["NoSuchKey"])
})

test.each([
  ["a wrong secret", { secret: "another secret of some length" }, "The bucket answered 403 SignatureDoesNotMatch."],
  ["an unknown key", { key_id: "AKOTHER" }, "The bucket answered 403 InvalidAccessKeyId."],
])("reports %s with the server's code", async (_, given, message) => {
  using server = startS3()
  await expect(bucketAt(server, given).list()).rejects.toThrow(message)
})

test("does not store a body that differs from the signed one", async () => {
  using server = startS3()
  await expect(bucketAt(server).put("a", new Blob(["text"]), sha("other"))).rejects.toThrow("400 XAmzContentSHA256Mismatch")
  expect(server.objects.size).toBe(0)
})

test("only a bucket in the operator's configuration may be on a private address", async () => {
  using server = startS3()
  await expect(bucketAt(server, { byOperator: false }).list()).rejects.toMatchObject({ code: "blocked_address" })
  await expect(bucketAt(server, {}, { enabled: false }).list()).rejects.toMatchObject({ code: "outbound_disabled" })
  const port = Number(new URL(server.endpoint).port)
  const opened = bucketAt(server, { byOperator: false }, { ports: [port], privateRanges: ["127.0.0.0/8"] })
  expect(await opened.list()).toEqual([])
})
