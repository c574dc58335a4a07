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
    { outbound: createOutbound({ settings: { ...guard, ...settings }, clock }), clock },
  )

test("a request is signed as the documents of the protocol show it", () => {
  // The example "GET Object" of the AWS documents has a Range head too, hence the one of "GET Bucket (List Objects)".
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

test("the server of these tests takes what another client signs, and refuses what nobody has", async () => {
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

test("objects are put, listed over pages, read and removed", async () => {
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
])("%s is told by the code of the server", async (_, given, says) => {
  using server = startS3()
  await expect(bucketAt(server, given).list()).rejects.toThrow(says)
})

test("a body that is not what was signed is not stored", async () => {
  using server = startS3()
  await expect(bucketAt(server).put("a", new Blob(["text"]), sha("other"))).rejects.toThrow("400 XAmzContentSHA256Mismatch")
  expect(server.objects.size).toBe(0)
})

test("the guard stands before every request: only the operator's own bucket may lie at home", async () => {
  using server = startS3()
  await expect(bucketAt(server, { byOperator: false }).list()).rejects.toMatchObject({ code: "blocked_address" })
  await expect(bucketAt(server, {}, { enabled: false }).list()).rejects.toMatchObject({ code: "outbound_disabled" })
  const port = Number(new URL(server.endpoint).port)
  const opened = bucketAt(server, { byOperator: false }, { ports: [port], privateRanges: ["127.0.0.0/8"] })
  expect(await opened.list()).toEqual([])
})
