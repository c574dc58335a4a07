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

/** A request that a provider has published together with its secret, or that its own library is tested with. */
interface Published {
  kind: HookKind
  source: string
  headers: Record<string, string>
  body: string
  secret: string
  now?: number
}

const STRIPE_BODY = {
  ...{ id: "evt_123", object: "event", account: "acct_123", api_version: "2017-05-25", created: 1533204620 },
  data: {
    object: { id: "cus_123", object: "customer", created: 123456789, email: "test@stripe.com", livemode: false, metadata: {} },
  },
  ...{ livemode: false, pending_webhooks: 1, request: { id: "req_123", idempotency_key: "idempotency-key-123" }, type: "customer.created" },
}

const PUBLISHED: readonly Published[] = [
  {
    kind: "stripe",
    source: "the tests of stripe-dotnet",
    headers: {
      "stripe-signature":
        "t=1533204620,v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7,v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef",
    },
    body: `${JSON.stringify(STRIPE_BODY, null, 2)}\n`,
    secret: "webhook_secret",
    now: 1_533_204_720_000,
  },
  {
    kind: "paddle",
    source: "the tests of paddle-php-sdk, with several signatures",
    headers: { "paddle-signature": "ts=1696195954;h1=dummy;h1=d96299976a6eb066f484d7fde011ac56fc32b38fc9940bc419d6e537fdc6ef02" },
    body: "hello-world",
    secret: "pdl_ntf_01hbpjmytsa32fhr36nqgc3kgb_WvRO0eL4Bj9rgYYIBZY6wZhG4EHy9jzh",
    now: 1_696_195_954_000,
  },
  {
    kind: "paddle",
    source: "the tests of paddle-node-sdk",
    headers: { "paddle-signature": "ts=1698796800;h1=a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9" },
    body: '{"data": ["1", "2"]}',
    secret: "VALID_SECRET",
    now: 1_698_796_805_000,
  },
  {
    // Lemon Squeezy documents the rule, an HMAC with SHA-256 of the body in hex, but no example. This one is from RFC 4231.
    kind: "lemonsqueezy",
    source: "RFC 4231, test case 2",
    headers: { "x-signature": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
    body: "what do ya want for nothing?",
    secret: "Jefe",
  },
  {
    kind: "woocommerce",
    source: "the tests of WooCommerce, whose webhook has no secret yet",
    headers: { "x-wc-webhook-signature": "GBDo00G55h6IiV+6CxqivQPLbI//KzaOZm747971tPs=" },
    body: "secret",
    secret: "",
  },
  {
    kind: "shopify",
    source: "the tests of shopify-api-php",
    headers: { "x-shopify-hmac-sha256": "/Redz4YXHLnSmmSN8grr5/Jl/Ua3d7yX3iWbjb8R8wo=" },
    body: '{"foo":"bar"}',
    secret: "steffi",
  },
  {
    kind: "payments-generic",
    source: "the Standard Webhooks specification",
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    body: '{"test": 2432232314}',
    secret: SECRETS["payments-generic"],
    now: 1_614_265_330_000,
  },
]

test("covers every provider with a published example", () => {
  expect(new Set(PUBLISHED.map(({ kind }) => kind))).toEqual(new Set(HOOK_KINDS))
})

test.each(PUBLISHED)(
  "accepts the example of $kind from $source, and nothing that differs from it",
  ({ kind, headers, body, secret, now }) => {
    const options = { body, secrets: [secret], ...(now !== undefined && { now }) }
    expect(isAccepted(kind, headers, options)).toBe(true)
    expect(isAccepted(kind, headers, { ...options, body: `${body} ` })).toBe(false)
    expect(isAccepted(kind, headers, { ...options, secrets: [`A${secret}`] })).toBe(false)
    if (now !== undefined) expect(isAccepted(kind, headers, { ...options, now: now + 301_000 })).toBe(false)
    if (kind === "payments-generic")
      expect(isAccepted(kind, { ...headers, "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJel" }, options)).toBe(false)
  },
)

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
