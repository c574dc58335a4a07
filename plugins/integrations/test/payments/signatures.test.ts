import { describe, expect, test } from "bun:test"
import { createHmac } from "node:crypto"
import { HOOK_KINDS, type HookKind } from "../../payments/hook.ts"
import { isSigned, isUsableSecret } from "../../payments/signatures.ts"
import { NOW, SECRETS, signatureOf } from "./providers.ts"

const BODY = '{"id":"evt_1","name":"Ünïcode ✓"}\n'

/** Returns whether a body with headers is accepted. */
const isAccepted = (kind: HookKind, headers: Record<string, string>, { body = BODY, secrets = [SECRETS[kind]], now = NOW } = {}) =>
  isSigned(kind, { headers: new Headers(headers), body: new TextEncoder().encode(body) }, secrets, now)

const SIGNS_TIME: readonly HookKind[] = ["stripe", "paddle", "payments-generic"]

describe.each(HOOK_KINDS.map((kind) => [kind] as const))("signatures of %s", (kind) => {
  const headers = signatureOf(kind, BODY)
  const OLD = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx" // valid base64, so that it can be a secret of each kind

  test("accepts the signature of the body", () => expect(isAccepted(kind, headers)).toBe(true))

  test("accepts each of two secrets during a rotation", () => {
    const secrets = [SECRETS[kind], OLD]
    expect(isAccepted(kind, headers, { secrets })).toBe(true)
    expect(isAccepted(kind, signatureOf(kind, BODY, { secret: OLD }), { secrets })).toBe(true)
  })

  test.each([
    ["a changed body", headers, { body: BODY.replace("evt_1", "evt_2") }],
    ["a body without its last line break", headers, { body: BODY.trimEnd() }],
    ["another secret", signatureOf(kind, BODY, { secret: OLD }), {}],
    ["no headers", {}, {}],
    ["empty headers", Object.fromEntries(Object.keys(headers).map((name) => [name, ""])), {}],
    ["a signature that is cut", Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.slice(0, -20)])), {}],
    [
      "headers that are too long",
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}${" ,".repeat(2_000)}x`])),
      {},
    ],
    ["no secrets", headers, { secrets: [] }],
  ])("rejects %s", (_, sent, options) => expect(isAccepted(kind, sent as Record<string, string>, options)).toBe(false))

  test.each([
    [300, true],
    [301, false],
    [-300, true],
    [-301, false],
  ])("judges a signature of %i seconds ago by the table: %p where the time is signed", (seconds, isRecent) => {
    const now = NOW + seconds * 1_000
    expect(isAccepted(kind, headers, { now })).toBe(isRecent || !SIGNS_TIME.includes(kind))
  })
})

test.each([
  ["stripe", "stripe-signature", /t=\d+/, "t=1795694000"],
  ["paddle", "paddle-signature", /ts=\d+/, "ts=1795694380"],
  ["payments-generic", "webhook-timestamp", /\d+/, "1795694380"],
] as const)("rejects a time of %s that was not signed", (kind, name, from, to) => {
  const headers = signatureOf(kind, BODY) as Record<string, string>
  expect(isAccepted(kind, { ...headers, [name]: headers[name]!.replace(from, to) })).toBe(false)
})

test("accepts any of several signatures of Stripe, and ignores other versions", () => {
  const { "stripe-signature": header } = signatureOf("stripe", BODY) as { "stripe-signature": string }
  const [time, v1] = header.split(",")
  const wrong = `v1=${"0".repeat(64)}`
  expect(isAccepted("stripe", { "stripe-signature": [time, wrong, v1].join(",") })).toBe(true)
  expect(isAccepted("stripe", { "stripe-signature": [time, wrong, wrong].join(",") })).toBe(false)
  expect(isAccepted("stripe", { "stripe-signature": [time, v1!.replace("v1", "v0")].join(",") })).toBe(false)
})

test("accepts the signature in the example of the Standard Webhooks specification", () => {
  // From the reference libraries of the specification.
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  }
  const options = { body: '{"test": 2432232314}', now: 1_614_265_330_000 }
  expect(isAccepted("payments-generic", headers, options)).toBe(true)
  expect(isAccepted("payments-generic", { ...headers, "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJel" }, options)).toBe(false)
})

test("accepts a message with signatures of two secrets", () => {
  const headers = signatureOf("payments-generic", BODY) as Record<string, string>
  const other = `v1,${createHmac("sha256", "another").update("x").digest("base64")}`
  expect(isAccepted("payments-generic", { ...headers, "webhook-signature": `${other} ${headers["webhook-signature"]}` })).toBe(true)
})

test.each([
  ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true],
  ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true],
  ["whsec_c2hvcnQ=", false],
  ["not base64 at all, but long enough for a key", false],
])("judges whether %p can sign messages of the Standard Webhooks specification: %p", (secret, isUsable) => {
  expect(isUsableSecret("payments-generic", secret)).toBe(isUsable)
  expect(isUsableSecret("stripe", secret)).toBe(true)
})
